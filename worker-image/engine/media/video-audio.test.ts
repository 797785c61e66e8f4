import { describe, expect, it } from 'vitest';
import type { Probe } from '#worker-image/engine/media/probe.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';
import { audioTrackOptions, audioTrackWarnings } from '#worker-image/engine/media/video-audio.ts';

function probeOf(codecs: readonly string[], over: Partial<MediaStream> = {}, trimmed: readonly number[] = []): Probe {
  const audio = codecs.map((codec, index) => {
    return { index, codec_name: codec, sample_rate: 48_000, channels: 2, bits_per_raw_sample: 0, ...over };
  });
  return { audio, undecodableAudio: 0, trimmed: new Set(trimmed) } as unknown as Probe;
}

const text = (...args: Parameters<typeof audioTrackOptions>): string => audioTrackOptions(...args).join(' ');

describe('audioTrackOptions', () => {
  it('copies or encodes each track by its own codec, with options for its position', () => {
    expect(text(probeOf(['aac', 'wmav2']), 'mp4', 'convert')).toBe(
      '-map 0:0 -c:a:0 copy -map 0:1 -c:a:1 aac -b:a:1 256000 -ar:a:1 48000',
    );
  });

  it('encodes MP3 of a low sample rate, which MP4 does not contain', () => {
    expect(text(probeOf(['mp3'], { sample_rate: 11_025 }), 'mp4', 'convert')).toContain('-c:a:0 aac');
    expect(text(probeOf(['mp3'], { sample_rate: 11_025 }), 'mov', 'convert')).toContain('copy');
  });

  it('encodes lossless audio when compressing only', () => {
    expect(text(probeOf(['alac']), 'mp4', 'convert')).toContain('copy');
    expect(text(probeOf(['alac']), 'mp4', 'compress')).toContain('-c:a:0 aac');
  });

  it('encodes Opus for WebM, with eight channels at most', () => {
    const options = text(probeOf(['aac'], { channels: 10 }), 'webm', 'convert');
    expect(options).toContain('-c:a:0 libopus');
    expect(options).toContain('-ac:a:0 8');
  });

  it('encodes a trimmed track where the container stores no edit list', () => {
    expect(text(probeOf(['aac'], {}, [0]), 'mp4', 'convert')).toContain('copy');
    expect(text(probeOf(['aac'], {}, [0]), 'mkv', 'convert')).not.toContain('copy');
  });

  it('keeps 8 tracks at most, with a warning', () => {
    const nine = probeOf(Array.from({ length: 9 }, () => 'aac'));
    expect(audioTrackOptions(nine, 'mp4', 'convert').filter((option) => option === '-map')).toHaveLength(8);
    expect([audioTrackWarnings(nine).length, audioTrackWarnings(probeOf(['aac'])).length]).toEqual([1, 0]);
  });
});
