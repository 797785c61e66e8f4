import { describe, expect, it } from 'vitest';
import { CONVERT_TARGETS, FORMATS, inputFormatsOf } from '#crds/catalogue/formats.ts';
import { isImageTarget } from '#worker-image/engine/image/image-formats.ts';

describe('isImageTarget', () => {
  it.each(inputFormatsOf('image'))('accepts what compress writes for %s', (format) => {
    const written = FORMATS[format].compressedAs ?? format;
    expect((written === 'jpg or png' ? ['jpg', 'png'] : [written]).every((one) => isImageTarget(one as 'jpg'))).toBe(
      true,
    );
  });

  it('accepts every target of convert, and no camera RAW', () => {
    expect(CONVERT_TARGETS.image.filter((format) => !isImageTarget(format))).toEqual([]);
    expect([isImageTarget('dng'), isImageTarget('mp4')]).toEqual([false, false]);
  });
});
