import { describe, expect, it } from 'vitest';
import {
  bitRateRange,
  bitRateWarnings,
  clampBitRate,
  hasManagedVorbis,
  type EncodedAudio,
} from '#worker-image/engine/media/audio-bit-rates.ts';

const audio = (codec: EncodedAudio['codec'], sampleRate: number, channels: number): EncodedAudio => ({
  codec,
  sampleRate,
  channels,
});

describe('bitRateRange', () => {
  it.each([
    [audio('mp3', 44_100, 2), 32_000, 320_000],
    [audio('mp3', 24_000, 2), 8000, 160_000],
    [audio('opus', 48_000, 2), 6000, 512_000],
    [audio('vorbis', 44_100, 1), 32_000, 250_000],
    [audio('vorbis', 44_100, 2), 45_000, 500_000],
    [audio('vorbis', 8000, 2), 12_000, 500_000],
    [audio('vorbis', 96_000, 2), 64_000, 500_000],
    [audio('aac', 44_100, 2), 0, Infinity],
  ])('of %j is %d to %d bits per second', (encoded, lowest, highest) => {
    expect(bitRateRange(encoded)).toEqual({ lowest, highest });
  });
});

describe('clampBitRate', () => {
  it.each([
    [16_000, 32_000],
    [96_000, 96_000],
    [512_000, 320_000],
  ])('of %d bits per second in MP3 at 44100 Hz is %d', (bitRate, expected) => {
    expect(clampBitRate(bitRate, audio('mp3', 44_100, 2))).toBe(expected);
  });
});

describe('hasManagedVorbis', () => {
  it.each([
    [50_000, true],
    [50_001, false],
  ])('at %d Hz is %j', (rate, expected) => {
    expect(hasManagedVorbis(rate)).toBe(expected);
  });
});

describe('bitRateWarnings', () => {
  it('returns none without a requested rate and within the range, both ends included', () => {
    for (const kbps of [null, 32, 320]) expect(bitRateWarnings(audio('mp3', 44_100, 2), kbps)).toEqual([]);
  });

  it('returns the highest rate in place of a higher one', () => {
    expect(bitRateWarnings(audio('mp3', 44_100, 2), 321)).toEqual([expect.stringContaining('320')]);
  });

  it('returns the lowest rate in place of a lower one', () => {
    expect(bitRateWarnings(audio('vorbis', 44_100, 2), 44)).toEqual([expect.stringContaining('45')]);
  });
});
