import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { photo } from '#test/fixtures/make-image-fixtures.ts';
import type { Produced } from '#worker-image/engine/handler.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';

const [WIDTH, HEIGHT] = [128, 64];

let plain: Buffer;

beforeAll(async () => {
  plain = await photo(WIDTH, HEIGHT).ensureAlpha(0.5).avif({ quality: 60, effort: 0 }).toBuffer();
});

/** With so many quarter turns of the picture and its transparency, or with no word of them. */
async function converted(picture: number | null, transparency: number | null): Promise<Produced> {
  const path = join(await freshDirectory(), 'turned.avif');
  await writeFile(path, turned(plain, [picture, transparency]));
  return runHandler(
    imageHandler,
    await workOn({ path, format: 'avif', operation: 'convert', options: { convert: { to: 'png' } } }),
  );
}

/** Writes the turns over what the layers say of their depth, which readers do not need. */
function turned(file: Buffer, turns: readonly (number | null)[]): Buffer {
  const copy = Buffer.from(file);
  let at = 0;
  for (const turn of turns) {
    at = copy.indexOf('pixi', at + 1);
    if (turn === null) continue;
    copy.fill(0, at, at - 4 + copy.readUInt32BE(at - 4));
    copy.write('irot', at, 'latin1');
    copy.writeUInt8(turn, at + 4);
  }
  return copy;
}

describe('an AVIF with transparency', () => {
  it.each([
    [1, null],
    [null, 2],
    [1, 3],
  ])('is refused when the picture is turned by %j quarters and its transparency by %j', async (picture, alpha) => {
    await expect(converted(picture, alpha)).rejects.toMatchObject({
      code: 'processing_failed',
      message: expect.stringContaining('transparency'),
    });
  });

  it.each([
    [null, null, WIDTH, HEIGHT],
    [1, 1, HEIGHT, WIDTH],
    [0, null, WIDTH, HEIGHT],
  ])('is turned by %j quarters with its transparency by %j', async (picture, alpha, width, height) => {
    expect((await converted(picture, alpha)).facts).toMatchObject({ width, height });
  });
});
