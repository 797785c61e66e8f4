import { describe, expect, it } from 'vitest';
import { jpegSettings } from '#worker-image/engine/image/encode/encode-jpeg.ts';
import { encoderQuality } from '#worker-image/engine/image/encode/quality-scale.ts';

describe('jpegSettings', () => {
  it.each([
    [94, 'photo', '4:2:0'],
    [95, 'photo', '4:4:4'],
    [10, 'graphic', '4:4:4'],
  ] as const)('of quality %d for a %s use chroma of %s', (quality, content, chroma) => {
    const settings = jpegSettings({ quality, content, encoders: encoderQuality(quality, content) });
    expect(settings.chromaSubsampling).toBe(chroma);
  });
});
