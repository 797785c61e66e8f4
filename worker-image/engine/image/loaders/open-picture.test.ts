import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Format, Operation } from '#crds/catalogue/formats.ts';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import { engineDeps, freshDirectory, runHandler, workOn, type Fixture } from '#test/fixtures/engine-work.ts';
import { makeImageFixtures } from '#test/fixtures/make-image-fixtures.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';
import { openPicture } from '#worker-image/engine/image/loaders/open-picture.ts';

type OpenPicture = typeof import('#worker-image/engine/image/loaders/open-picture.ts');

describe('a processed image', () => {
  const OPEN_PICTURE = '#worker-image/engine/image/loaders/open-picture.ts';
  const opened: string[] = [];
  let fixtures: readonly Fixture[];
  let handler: typeof imageHandler;

  beforeAll(async () => {
    fixtures = await makeImageFixtures(await freshDirectory());
    vi.resetModules();
    // Counts the calls of the loaders; the files are really opened.
    vi.doMock(OPEN_PICTURE, async (original: () => Promise<OpenPicture>) => {
      const real = await original();
      const openImage: OpenPicture['openImage'] = (deps, work, ...output) => {
        opened.push(basename((output[0] ?? work.input).path));
        return real.openImage(deps, work, ...output);
      };
      const openPictureCounted: OpenPicture['openPicture'] = (deps, file) => {
        opened.push(basename(file.path));
        return real.openPicture(deps, file);
      };
      return { ...real, openImage, openPicture: openPictureCounted };
    });
    handler = (await import('#worker-image/engine/image/image-handler.ts')).imageHandler;
  }, 180_000);

  afterAll(() => {
    vi.doUnmock(OPEN_PICTURE);
    vi.resetModules();
  });

  it.each<[string, Operation, SentOptions, string[]]>([
    ['photo-jpg', 'compress', {}, ['photo.jpg', 'out.jpg']],
    ['photo-avif', 'compress', {}, ['photo.avif', 'out.avif']],
    ['photo-avif', 'compress', { image: { strip_metadata: false } }, ['photo.avif', 'out.avif']],
    ['photo-avif', 'strip_metadata', {}, ['photo.avif', 'stripped.avif']],
    ['photo-heic', 'convert', { convert: { to: 'avif' } }, ['photo.heic', 'out.avif']],
    ['animated-gif', 'convert', { convert: { to: 'webp' } }, ['animated.gif', 'out.webp']],
    ['photo-tiff', 'convert', { convert: { to: 'png' } }, ['photo.tiff', 'out.png']],
    ['bmp-24-bmp', 'convert', { convert: { to: 'bmp' } }, ['bmp-24.bmp', 'out.bmp']],
    ['photo-png', 'convert', { convert: { to: 'pdf' } }, ['photo.png']],
  ])('is opened once as input and once as output: %s, %s %j', async (name, operation, options, expected) => {
    const fixture = fixtures.find((one) => one.name === name);
    if (fixture === undefined) throw new Error(`no fixture ${name}`);
    const { path, format } = fixture;
    const input = join(await freshDirectory(), expected[0] ?? '');
    await writeFile(input, await readFile(path));
    opened.length = 0;
    await runHandler(handler, await workOn({ path: input, format, operation, options }));
    expect(opened).toEqual(expected);
  });
});

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
