import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { outputOf, outputOfFile } from '#test/fixtures/encoder-output.ts';
import { engineDeps } from '#test/fixtures/engine-work.ts';
import { makePngChunk } from '#worker-image/engine/containers/png-chunks.ts';
import { encodeBmp } from '#worker-image/engine/image/encode/encode-bmp.ts';
import { decodeBmp } from '#worker-image/engine/image/loaders/load-bmp.ts';

const ROWS = { width: 3, height: 2 };
const COLORS = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]);

describe('encodeBmp', () => {
  it('writes the samples and the density of an image whose rows need padding', async () => {
    const output = await outputOf(sharp(COLORS, { raw: { ...ROWS, channels: 3 } }).withMetadata({ density: 254 }));
    await encodeBmp(engineDeps(), output);
    const file = await readFile(output.path);
    expect(decodeBmp(file)).toMatchObject({ ...ROWS, channels: 3, data: COLORS });
    expect(file.readInt32LE(38)).toBe(10_000);
  });

  it('writes the greatest density that the header holds for an image with a greater one', async () => {
    const png = await sharp(COLORS, { raw: { ...ROWS, channels: 3 } })
      .png()
      .toBuffer();
    const density = makePngChunk('pHYs', Buffer.from('7fffffff7fffffff01', 'hex'));
    const output = await outputOfFile('png', Buffer.concat([png.subarray(0, 33), density, png.subarray(33)]));
    expect(output.source.metadata.density).toBeGreaterThan(54_000_000);
    await encodeBmp(engineDeps(), output);
    expect((await readFile(output.path)).readInt32LE(38)).toBe(0x7fff_ffff);
  });

  it('writes gray as equal red, green and blue', async () => {
    const gray = Buffer.from([0, 50, 100, 150, 200, 250]);
    const output = await outputOf(sharp(gray, { raw: { ...ROWS, channels: 1 } }).toColourspace('b-w'));
    await encodeBmp(engineDeps(), output);
    const { data } = decodeBmp(await readFile(output.path));
    expect([...data]).toEqual([...gray].flatMap((value) => [value, value, value]));
  });
});
