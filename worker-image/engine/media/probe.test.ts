import { describe, expect, it } from 'vitest';
import { audioTrackOf } from '#worker-image/engine/media/audio-track.ts';
import { playingSeconds, type Probe } from '#worker-image/engine/media/probe.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';

const stream = (index: number, more: Partial<MediaStream> = {}): MediaStream =>
  ({ index, sample_rate: 48_000, channels: 2, ...more }) as MediaStream;

function probeOf(more: Partial<Probe>): Probe {
  return { format: 'mp4', audio: [], hasBrokenAudio: false, undecodableAudio: 0, ends: new Map(), ...more } as Probe;
}

describe('audioTrackOf', () => {
  it('returns the first audio stream', () => {
    expect(audioTrackOf(probeOf({ audio: [stream(1), stream(2)] })).index).toBe(1);
  });

  it.each([
    ['no audio', probeOf({}), 'has no audio track'],
    ['audio that does not decode', probeOf({ hasBrokenAudio: true }), 'is damaged'],
    ['audio of an unknown codec', probeOf({ undecodableAudio: 1 }), 'is not supported'],
    ['a track without a sample rate', probeOf({ audio: [stream(1, { sample_rate: 0 })] }), 'is damaged'],
  ])('refuses a file with %s', (_what, probe, message) => {
    expect(() => audioTrackOf(probe)).toThrow(
      expect.objectContaining({ code: 'processing_failed', message: expect.stringContaining(message) }),
    );
  });
});

describe('playingSeconds', () => {
  const probe = probeOf({
    ends: new Map([
      [0, 12.5],
      [1, 13],
      [2, 60],
    ]),
  });

  it('returns the end of the longest of the given streams', () => {
    expect(playingSeconds(probe, [stream(0), stream(1)])).toBe(13);
    expect(playingSeconds(probe, [stream(0), undefined])).toBe(12.5);
  });

  it('returns the time of one frame for a video whose only packet has no duration', () => {
    expect(playingSeconds(probeOf({ ends: new Map([[0, 0]]) }), [stream(0)])).toBe(0.04);
  });

  it('refuses streams without packets', () => {
    expect(() => playingSeconds(probe, [stream(7), null])).toThrow(
      expect.objectContaining({ code: 'processing_failed' }),
    );
  });
});
