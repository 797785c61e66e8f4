import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { engineDeps, freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';
import { openPicture } from '#worker-image/engine/image/loaders/open-picture.ts';

describe('a BMP output', () => {
  it('is decoded by the verification', async () => {
    const path = join(await freshDirectory(), 'input.png');
    await sharp({ create: { width: 40, height: 30, channels: 3, background: '#369' } })
      .png()
      .toFile(path);
    const work = await workOn({ path, format: 'png', operation: 'convert', options: { convert: { to: 'bmp' } } });
    const produced = await runHandler(imageHandler, work);
    await writeFile(produced.path, (await readFile(produced.path)).subarray(0, 2000));
    const facts = await imageHandler.inspect(engineDeps(), work);
    await expect(imageHandler.verify(engineDeps(), work, facts, produced)).rejects.toThrow(/2000 of 3654 bytes/);
  });
});

describe('openPicture', () => {
  it.each<Format>(['pdf', 'mp4'])('rejects %s, which no loader reads', async (format) => {
    const file = { path: 'any', format, directory: 'any', maxPixels: 1 };
    await expect(openPicture(engineDeps(), file)).rejects.toThrow(TypeError);
  });
});
