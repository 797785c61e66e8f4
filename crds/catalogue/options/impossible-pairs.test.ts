import { describe, expect, it } from 'vitest';
import { refuseImpossiblePairs, sampleRateRule } from '#crds/catalogue/options/impossible-pairs.ts';

const AUDIO = { format: 'aac', sample_rate_hz: null };
const VIDEO = { format: 'mp4', codec: 'h265' };

describe('refuseImpossiblePairs', () => {
  it.each([
    ['mp4', 'h265', true],
    ['mp4', 'vp9', true],
    ['mkv', 'vp9', true],
    ['webm', 'vp9', true],
    ['webm', 'h264', false],
    ['mov', 'h264', true],
    ['mov', 'vp9', false],
  ])('accepts the pair %s and %s: %j', (format, codec, isPossible) => {
    const check = (): void =>
      refuseImpossiblePairs({ video: { format, codec }, audio: AUDIO, isAudioFormatChosen: false });
    if (isPossible) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'invalid_options', param: 'video.codec' }));
  });

  // Promise, Bad input, case by case: Sample rates
  it('checks a sample rate against a chosen format only', () => {
    const audio = { format: 'mp3', sample_rate_hz: 96_000 };
    expect(() => refuseImpossiblePairs({ video: VIDEO, audio, isAudioFormatChosen: false })).not.toThrow();
    expect(() => refuseImpossiblePairs({ video: VIDEO, audio, isAudioFormatChosen: true })).toThrow(
      expect.objectContaining({
        param: 'audio.sample_rate_hz',
        message: 'mp3 does not support a sample rate of 96000 Hz. Use 48000 or less.',
      }),
    );
  });
});

describe('sampleRateRule', () => {
  // Promise, Bad input, case by case: Sample rates
  it.each([
    ['opus', 44_100, '8000, 12000, 16000, 24000, 48000'],
    ['opus', 48_000, null],
    ['mp3', 48_000, null],
    ['mp3', 48_001, '48000 or less'],
    ['aac', 96_000, null],
    ['m4a', 96_001, '96000 or less'],
    ['flac', 192_000, null],
  ])('for %s and %i Hz is %j', (format, rate, allowed) => {
    expect(sampleRateRule(format, rate)).toBe(allowed);
  });
});
