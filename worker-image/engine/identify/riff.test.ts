import { describe, expect, it } from 'vitest';
import { formatOfRiff } from '#worker-image/engine/identify/riff.ts';

describe('formatOfRiff', () => {
  it.each([
    ['RIFF', 'WEBP', 'webp'],
    ['RIFF', 'WAVE', 'wav'],
    ['RF64', 'WAVE', 'wav'],
    ['BW64', 'WAVE', 'wav'],
    ['RIFF', 'AVI ', 'avi'],
  ])('returns the format of %s with the form %s', (magic, form, format) => {
    expect(formatOfRiff(Buffer.from(`${magic}\0\0\0\0${form}`))).toBe(format);
  });

  it('refuses another form with its name', () => {
    expect(() => formatOfRiff(Buffer.from('RIFF\0\0\0\0ACON'))).toThrow(
      expect.objectContaining({ code: 'unsupported_input', message: expect.stringContaining('"ACON"') }),
    );
  });

  it.each(['RIFX\0\0\0\0WAVE', 'RIFF\0\0\0\0WAV'])('returns null for %j', (text) => {
    expect(formatOfRiff(Buffer.from(text))).toBeNull();
  });
});
