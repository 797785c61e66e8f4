import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';

const [WIDTH, HEIGHT] = [8000, 4100];

describe('an AVIF of more than 32 megapixels', () => {
  it('is decoded upright, with its profile, its opacity and the colors of its corners', async () => {
    const path = join(await freshDirectory(), 'large.avif');
    const create = {
      width: WIDTH,
      height: HEIGHT,
      channels: 4,
      background: { r: 200, g: 60, b: 30, alpha: 0.5 },
    } as const;
    const corner = { input: { create: { ...create, width: 1000, height: 1000, background: '#00f' } }, left: 0, top: 0 };
    await sharp({ create })
      .composite([corner])
      .withMetadata({ orientation: 6, icc: 'p3' })
      .avif({ effort: 0, chromaSubsampling: '4:2:0' })
      .toFile(path);
    const options = { image: { format: 'webp', resize: { mode: 'fit', width: 400, height: 400 } } } as const;
    const { path: small } = await runHandler(
      imageHandler,
      await workOn({ path, format: 'avif', operation: 'compress', options }),
    );
    const made = sharp(small);
    expect(await made.metadata()).toMatchObject({ width: 205, height: 400, hasAlpha: true, icc: expect.any(Buffer) });
    const { data } = await made.raw().toBuffer({ resolveWithObject: true });
    const at = (x: number, y: number): number[] => [...data.subarray((y * 205 + x) * 4, (y * 205 + x) * 4 + 4)];
    expect(at(200, 10)[2]).toBeGreaterThan(230);
    expect(at(200, 10)[3]).toBe(255);
    expect(at(10, 390)[0]).toBeGreaterThan(170);
    expect(at(10, 390)[3]).toBeGreaterThan(120);
    expect(at(10, 390)[3]).toBeLessThan(136);
  });
});
