import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { makePngChunk } from '#worker-image/engine/containers/png-chunks.ts';
import { HDR_WARNING, imageHandler } from '#worker-image/engine/image/image-handler.ts';

const IHDR_END = 33;
const SIDE = 64;
const [MATRIX_OF_BT_601, FULL_RANGE] = [6, 0x80];

const color = (background: string): Sharp => sharp({ create: { width: SIDE, height: SIDE, channels: 3, background } });

async function pngWith(image: Sharp, ...chunks: readonly Buffer[]): Promise<Buffer> {
  const png = await image.png().toBuffer();
  return Buffer.concat([png.subarray(0, IHDR_END), ...chunks, png.subarray(IHDR_END)]);
}

/** Returns an AVIF of samples in Display P3 whose profile is replaced by these numbers. */
async function avifWith(image: Sharp, primaries: number, transfer: number): Promise<Buffer> {
  const avif = await image.withIccProfile('p3').avif({ quality: 100, chromaSubsampling: '4:4:4' }).toBuffer();
  const box = avif.indexOf('colrrICC');
  if (box === -1) throw new Error('The AVIF has no profile.');
  avif.write('nclx', box + 4, 'latin1');
  [primaries, transfer, MATRIX_OF_BT_601].forEach((value, i) => avif.writeUInt16BE(value, box + 8 + 2 * i));
  avif.writeUInt8(FULL_RANGE, box + 14);
  return avif;
}

const numbers = (primaries: number, transfer: number): Buffer =>
  makePngChunk('cICP', Buffer.from([primaries, transfer, 0, 1]));

async function converted(
  bytes: Buffer,
  format: Format,
  to: 'jpg' | 'png' | 'webp' = 'png',
): Promise<{ shown: number[]; hasProfile: boolean; warnings: readonly string[] }> {
  const path = join(await freshDirectory(), `input.${format}`);
  await writeFile(path, bytes);
  const work = await workOn({ path, format, operation: 'convert', options: { convert: { to } } });
  const produced = await runHandler(imageHandler, work);
  const { hasProfile } = await sharp(produced.path).metadata();
  const samples = await sharp(produced.path).toColourspace('srgb').removeAlpha().raw().toBuffer();
  return { shown: [...samples.subarray(0, 3)], hasProfile, warnings: produced.warnings ?? [] };
}

function near(found: readonly number[], wanted: readonly number[], tolerance: number): void {
  found.forEach((value, i) => expect(Math.abs(value - (wanted[i] ?? 0))).toBeLessThanOrEqual(tolerance));
}

describe('an image that names its color space by numbers', () => {
  const P3_OF_200_90_60 = 'rgb(186, 97, 71)';

  it.each(['jpg', 'png', 'webp'] as const)('keeps the colors of a PNG in Display P3 as %s', async (to) => {
    const { shown, hasProfile } = await converted(await pngWith(color(P3_OF_200_90_60), numbers(12, 13)), 'png', to);
    near(shown, [200, 90, 60], 5);
    expect(hasProfile).toBe(true);
  });

  it('keeps the colors of an AVIF in Display P3', async () => {
    const { shown } = await converted(await avifWith(color('rgb(200, 90, 60)'), 12, 13), 'avif');
    near(shown, [200, 90, 60], 6);
  });

  it('converts linear samples of a PNG, in color and gray', async () => {
    const linear = Buffer.alloc(4);
    linear.writeUInt32BE(100_000);
    const chunk = makePngChunk('gAMA', linear);
    near((await converted(await pngWith(color('rgb(55, 55, 128)'), chunk), 'png')).shown, [128, 128, 188], 3);
    const gray = color('rgb(55, 55, 55)').toColourspace('b-w');
    near((await converted(await pngWith(gray, chunk), 'png', 'jpg')).shown, [128, 128, 128], 3);
  });

  it('keeps the rotation and the details of a PNG that is converted', async () => {
    const upright = sharp({ create: { width: 40, height: 20, channels: 3, background: P3_OF_200_90_60 } });
    const rotated = upright.withExif({ IFD0: { Make: 'Planted' } }).withMetadata({ orientation: 6 });
    const path = join(await freshDirectory(), 'input.png');
    await writeFile(path, await pngWith(rotated, numbers(12, 13)));
    const work = await workOn({ path, format: 'png', operation: 'convert', options: { convert: { to: 'jpg' } } });
    const { width, height, exif } = await sharp((await runHandler(imageHandler, work)).path).metadata();
    expect([width, height]).toEqual([20, 40]);
    expect(exif?.includes('Planted')).toBe(true);
  });

  // 58 % of PQ is the white of a standard screen.
  it.each<readonly [string, Format, () => Promise<Buffer>]>([
    ['PNG', 'png', () => pngWith(color('rgb(148, 148, 148)'), numbers(9, 16))],
    ['AVIF', 'avif', () => avifWith(color('rgb(148, 148, 148)'), 9, 16)],
  ])('shows white of high dynamic range as white, with a warning: %s', async (_name, format, make) => {
    const { shown, warnings } = await converted(await make(), format);
    near(shown, [245, 245, 245], 6);
    expect(warnings).toEqual([HDR_WARNING]);
  });
});
