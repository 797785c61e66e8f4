import { describe, expect, it } from 'vitest';
import { dependsOnPixels, expectedCodec, expectedFrameSize, type ExpectedWork } from '#api/billing/expected-output.ts';
import { FORMATS, type Format, type Operation } from '#crds/catalogue/formats.ts';
import { parseJsonOptions, resolveOptions } from '#crds/catalogue/options/options.ts';

const work = (inputFormat: Format, sent: object = {}, operation: Operation = 'compress'): ExpectedWork => ({
  operation,
  kind: FORMATS[inputFormat].kind,
  inputFormat,
  options: resolveOptions(parseJsonOptions(sent)),
});

describe('dependsOnPixels', () => {
  it('returns true for a TIFF or BMP that keeps its format', () => {
    expect(
      [work('tiff'), work('bmp'), work('png'), work('bmp', { image: { format: 'jpg' } })].map((each) =>
        dependsOnPixels(each),
      ),
    ).toStrictEqual([true, true, false, false]);
  });
});

describe('the expected video', () => {
  it.each<[object, Operation, [number, number], [number, number]]>([
    [{}, 'compress', [3841, 2161], [3841, 2161]],
    [{ resolution: 854 }, 'compress', [1920, 1080], [854, 480]],
    [{ resolution: 854 }, 'compress', [1080, 1920], [480, 854]],
    [{ resolution: 1920 }, 'compress', [1280, 720], [1280, 720]],
    [{ quality: 'web' }, 'compress', [3840, 2160], [1920, 1080]],
    [{ quality: 'web', resolution: 1280 }, 'compress', [3840, 2160], [1280, 720]],
    [{ resolution: 854 }, 'convert', [1920, 1080], [1920, 1080]],
    [{ resolution: 854 }, 'compress', [100_000, 10], [854, 2]],
  ])('with %j and operation %s of size %j has size %j', (video, operation, [width, height], [outWidth, outHeight]) => {
    const expected = work('mp4', { video, convert: { to: 'mov' } }, operation);
    expect(expectedFrameSize(expected, { width, height })).toStrictEqual({ width: outWidth, height: outHeight });
  });

  it.each<[object, Operation, string]>([
    [{}, 'compress', 'h265'],
    [{ video: { codec: 'h264' } }, 'compress', 'h264'],
    [{ video: { format: 'webm' } }, 'compress', 'vp9'],
    [{ convert: { to: 'webm' } }, 'convert', 'vp9'],
    [{ convert: { to: 'mp4' } }, 'convert', 'h265'],
  ])('with options %j and operation %s has the codec %s', (sent, operation, codec) => {
    expect(expectedCodec(work('mp4', sent, operation))).toBe(codec);
  });
});
