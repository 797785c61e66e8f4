import { describe, expect, it } from 'vitest';
import { engineDeps, freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { draw, X264 } from '#test/fixtures/make-media-fixtures.ts';
import type { Probe } from '#worker-image/engine/media/probe.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';
import { audioTrackOptions, audioTrackWarnings } from '#worker-image/engine/media/video-audio.ts';
import { videoHandler } from '#worker-image/engine/media/video-handler.ts';

function probeOf(codecs: readonly string[], over: Partial<MediaStream> = {}, trimmed: readonly number[] = []): Probe {
  const audio = codecs.map((codec, index) => {
    return {
      index,
      codec_name: codec,
      sample_rate: 48_000,
      channels: 2,
      channel_layout: 'stereo',
      bits_per_raw_sample: 0,
      ...over,
    };
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

  it('names the channels and their order for each track by itself', () => {
    const { audio, ...rest } = probeOf(['pcm_s16le', 'pcm_s16le', 'pcm_s16le']);
    const over = [
      { channels: 1, channel_layout: '1 channels (FL)' },
      { channels: 6, channel_layout: '5.1(side)' },
      { channels: 2, channel_layout: 'stereo' },
    ];
    const tracks = { ...rest, audio: audio.map((track, index) => ({ ...track, ...over[index] })) };
    const [mp4, webm] = [text(tracks, 'mp4', 'convert'), text(tracks, 'webm', 'convert')];
    expect(mp4.match(/-filter\S+ \S+/g)).toEqual([
      '-filter:a:0 channelmap=0:channel_layout=mono',
      '-filter:a:1 aformat=channel_layouts=5.1',
    ]);
    expect(webm.match(/-mapping_family\S+ \S+/g)).toEqual(['-mapping_family:a:1 1']);
  });

  it.each(['mp4', 'webm'] as const)('encodes the channels of a split track for %s', async (to) => {
    const sources = '-f lavfi -i testsrc2=size=64x64:duration=1 -f lavfi -i anoisesrc=duration=1';
    const split = '[1]aformat=channel_layouts=5.1(side),asplit[whole],channelsplit=5.1(side):FL+SR[left][right]';
    const streams = `-filter_complex ${split} -map 0 -map [left] -map [right] -map [whole] -c:a pcm_s16le`;
    const args = [...`${sources} ${streams}`.split(' '), ...X264];
    const source = await draw(engineDeps().run, await freshDirectory(), { format: 'mov', args });
    const work = await workOn({ ...source, operation: 'convert', options: { convert: { to } } });
    const { facts } = await runHandler(videoHandler, work);
    expect(facts.probe.audio.map((track) => track.channel_layout)).toEqual(['mono', 'mono', '5.1']);
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
