import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { photo } from '#test/fixtures/make-image-fixtures.ts';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import type { Produced } from '#worker-image/engine/handler.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';
import { findAlphaFault } from '#worker-image/engine/image/loaders/alpha-orientation.ts';

const [WIDTH, HEIGHT] = [128, 64];

let plain: Buffer;

beforeAll(async () => {
  plain = await photo(WIDTH, HEIGHT).ensureAlpha(0.5).avif({ quality: 60, effort: 0 }).toBuffer();
});

/** Converts an AVIF whose image and transparency are rotated by quarters, or have no rotation property. */
async function converted(picture: number | null, transparency: number | null): Promise<Produced> {
  const path = join(await freshDirectory(), 'rotated.avif');
  await writeFile(path, rotated(plain, [picture, transparency]));
  return runHandler(
    imageHandler,
    await workOn({ path, format: 'avif', operation: 'convert', options: { convert: { to: 'png' } } }),
  );
}

/** Overwrites the depth property of the layers, which readers do not need, with rotations. */
function rotated(file: Buffer, rotations: readonly (number | null)[]): Buffer {
  const copy = Buffer.from(file);
  let at = 0;
  for (const rotation of rotations) {
    at = copy.indexOf('pixi', at + 1);
    if (rotation === null) continue;
    copy.fill(0, at, at - 4 + copy.readUInt32BE(at - 4));
    copy.write('irot', at, 'latin1');
    copy.writeUInt8(rotation, at + 4);
  }
  return copy;
}

describe('an AVIF with transparency', () => {
  it.each([
    [1, null],
    [null, 2],
    [1, 3],
  ])('is refused when the image is rotated by %j quarters and its transparency by %j', async (picture, alpha) => {
    await expect(converted(picture, alpha)).rejects.toMatchObject({
      code: 'processing_failed',
      message: expect.stringContaining('transparency'),
    });
  });

  it.each([
    [null, null, WIDTH, HEIGHT],
    [1, 1, HEIGHT, WIDTH],
    [0, null, WIDTH, HEIGHT],
  ])('is rotated by %j quarters with its transparency by %j', async (picture, alpha, width, height) => {
    expect((await converted(picture, alpha)).facts).toMatchObject({ width, height });
  });
});

describe('findAlphaFault', () => {
  /** Inserts a reference of item 1, the image, to item 2 into the references, and enlarges the boxes around it. */
  const withReference = (type: string): Buffer => {
    const at = plain.indexOf('auxl') - 4;
    const reference = Buffer.alloc(14);
    reference.writeUInt32BE(14);
    reference.write(type, 4, 'latin1');
    reference.writeUInt16BE(1, 8);
    reference.writeUInt16BE(1, 10);
    reference.writeUInt16BE(2, 12);
    const file = Buffer.concat([plain.subarray(0, at), reference, plain.subarray(at)]);
    for (const box of ['meta', 'iref']) {
      const size = file.indexOf(box) - 4;
      file.writeUInt32BE(file.readUInt32BE(size) + reference.length, size);
    }
    return file;
  };

  it.each([
    ['prem', 'multiplied with its transparency'],
    ['cdsc', null],
  ])('for an image with a reference %s to its transparency is %j', async (type, message) => {
    const fault = await findAlphaFault(fileReaderOf(withReference(type)));
    expect(fault?.message ?? null).toEqual(message === null ? null : expect.stringContaining(message));
  });
});
