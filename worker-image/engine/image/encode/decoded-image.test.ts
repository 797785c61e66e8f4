import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { outputOf } from '#test/fixtures/encoder-output.ts';
import { decodeAndClassify } from '#worker-image/engine/image/encode/decoded-image.ts';
import type { Output } from '#worker-image/engine/image/encode/encoder.ts';
import { encodePng } from '#worker-image/engine/image/encode/encode-png.ts';
import { classifyImage } from '#worker-image/engine/image/encode/quality-scale.ts';
import { engineDeps } from '#test/fixtures/engine-work.ts';

const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
const grain = (): Sharp => sharp({ create: { width: 200, height: 150, channels: 3, background: '#888', noise } });

/** Returns bars of one color. */
function bars(background: string): Sharp {
  const bar = { create: { width: 3, height: 60, channels: 3 as const, background: '#e02020' } };
  const page = sharp({ create: { width: 400, height: 300, channels: 4, background } });
  return page.composite(Array.from({ length: 30 }, (_, at) => ({ input: bar, left: 20 + at * 12, top: 20 })));
}

describe('decodeAndClassify', () => {
  it.each([
    ['bars', 'graphic', () => bars('#fff')],
    ['bars on nothing', 'graphic', () => bars('#00000000')],
    ['noise', 'photo', grain],
  ] as const)('classifies %s as without its samples: %s', async (_what, content, draw) => {
    const output = await outputOf(draw());
    const { content: found, decoded } = await decodeAndClassify(output);
    expect(found).toBe(content);
    expect(await classifyImage(output.source)).toBe(content);
    expect(decoded?.samples ?? null).toEqual(
      content === 'photo' ? null : await output.pipeline().ensureAlpha().raw().toBuffer(),
    );
  });

  it('classifies the input, and decodes the output, where that is resized', async () => {
    const { pipeline, ...rest } = await outputOf(bars('#fff'));
    const size = { width: 40, height: 30 };
    const output: Output = { ...rest, pipeline: () => pipeline().resize(size), size };
    const { content, decoded } = await decodeAndClassify(output);
    expect(content).toBe('graphic');
    expect(decoded?.samples).toHaveLength(40 * 30 * 4);
  });
});

describe('metadata of a graphic', () => {
  it('is in the PNG as libvips writes it: profile, EXIF with the size, XMP and density', async () => {
    const tagged = bars('#fff')
      .withIccProfile('p3')
      .withExif({ IFD0: { Make: 'Planted' } })
      .withXmp('<x:xmpmeta/>')
      .withMetadata({ density: 144 });
    const { source, ...rest } = await outputOf(tagged);
    const pipeline = (): Sharp => source.start({ animated: false, keepProfile: true }).keepMetadata();
    const output = { ...rest, source, pipeline, keptProfile: source.metadata.icc ?? null };
    await encodePng(engineDeps(), output);
    const plain = await sharp(await pipeline().png({ palette: true }).toBuffer()).metadata();
    const written = await sharp(output.path).metadata();
    expect(written.isPalette).toBe(true);
    expect(written.exif?.includes('Planted')).toBe(true);
    for (const kept of ['icc', 'exif', 'xmp', 'density'] as const) expect(written[kept]).toEqual(plain[kept]);
  });
});
