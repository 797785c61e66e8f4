import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Format, Operation } from '#crds/catalogue/formats.ts';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import { gif } from '#test/hostile/forge-image.ts';
import { engineDeps, freshDirectory, runHandler, workOn, type Fixture } from '#test/fixtures/engine-work.ts';
import { sharedFixtures } from '#test/fixtures/make-fixtures.ts';
import { photo, PLANTED } from '#test/fixtures/make-image-fixtures.ts';
import { compressOrKeep } from '#worker-image/engine/compress-or-keep.ts';
import type { Produced, Work } from '#worker-image/engine/handler.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';
import { stripJpeg } from '#worker-image/engine/image/strip/strip-jpeg.ts';
import { makePngChunk, PNG_SIGNATURE, readPngChunks } from '#worker-image/engine/containers/png-chunks.ts';
import { makeReport } from '#worker-image/engine/report.ts';

let fixtures: readonly Fixture[];

beforeAll(async () => {
  fixtures = await sharedFixtures('image');
}, 180_000);

function fixture(name: string): Fixture {
  const found = fixtures.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no fixture ${name}`);
  return found;
}

function work(name: string, operation: Operation, options: SentOptions = {}): Promise<Work> {
  return workOn({ ...fixture(name), operation, options });
}

async function compress(name: string, image: SentOptions['image'] = {}): Promise<Produced> {
  return runHandler(imageHandler, await work(name, 'compress', { image }));
}

async function convert(name: string, to: Format): Promise<Produced> {
  return runHandler(imageHandler, await work(name, 'convert', { convert: { to } }));
}

async function inspectBytes(format: Format, bytes: Buffer) {
  const path = join(await freshDirectory(), `input.${format}`);
  await writeFile(path, bytes);
  const facts = await imageHandler.inspect(engineDeps(), await workOn({ path, format, operation: 'compress' }));
  return { ...facts, picture: undefined };
}

function inspectPath(one: Work, path: string) {
  const format = path.slice(path.lastIndexOf('.') + 1) as Format;
  return imageHandler.inspect(engineDeps(), { ...one, input: { ...one.input, path, format } });
}

/** Returns work on an animated PNG of two gray frames with one row each, which cannot become smaller. */
async function animatedRow(width: number, image: SentOptions['image'] = {}): Promise<Work> {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(1, 4);
  const pixels = deflateSync(Buffer.alloc(1 + width), { level: 9 });
  const control = (sequence: number): Buffer =>
    makePngChunk('fcTL', Buffer.concat([Buffer.from([0, 0, 0, sequence]), size, Buffer.alloc(14)]));
  const path = join(await freshDirectory(), 'row.png');
  await writeFile(
    path,
    Buffer.concat([
      PNG_SIGNATURE,
      makePngChunk('IHDR', Buffer.concat([size, Buffer.from([8, 0, 0, 0, 0])])),
      makePngChunk('acTL', Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])),
      control(0),
      makePngChunk('IDAT', pixels),
      control(1),
      makePngChunk('fdAT', Buffer.concat([Buffer.from([0, 0, 0, 2]), pixels])),
      makePngChunk('IEND', Buffer.alloc(0)),
    ]),
  );
  return workOn({ path, format: 'png', operation: 'compress', options: { image } });
}

/** Returns the sRGB samples of a pixel of the displayed image. `x` and `y` are shares of width and height. */
async function sampleAt(path: string, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(path)
    .autoOrient()
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
  return [...data.subarray(at, at + 3)];
}

/** Renders the only page of a PDF at one pixel per point. */
async function rendered(pdf: string): Promise<string> {
  const page = join(await freshDirectory(), 'page');
  await runPoppler('pdftoppm', '-png', '-singlefile', '-r', '72', pdf, page);
  return `${page}.png`;
}

async function runPoppler(file: string, ...args: readonly string[]): Promise<void> {
  const directory = await freshDirectory();
  await engineDeps().run({ file, args, directory, signal: new AbortController().signal, timeoutSeconds: 60 });
}

function near(one: readonly number[], other: readonly number[], tolerance = 30): boolean {
  return one.every((value, i) => Math.abs(value - other[i]!) <= tolerance);
}

describe('inspect', () => {
  it.each([
    ['photo-jpg', 1600, 1200, 1],
    ['orientation-6-jpg', 240, 320, 1],
    ['photo-tiff', 240, 320, 1],
    ['animated-gif', 320, 240, 6],
    ['animated-webp', 320, 240, 5],
    ['animated-png', 320, 240, 3],
    ['photo-heic', 640, 480, 1],
    ['bmp-rle4-bmp', 37, 23, 1],
    ['photo-dng', 320, 240, 1],
    ['two-pages-tiff', 320, 240, 1],
  ])('reads the size of %s as shown', async (name, width, height, frames) => {
    expect(await imageHandler.inspect(engineDeps(), await work(name, 'compress'))).toMatchObject({
      width,
      height,
      frames,
    });
  });

  // Promise, Bad input, case by case: Pixels, frames, pages, durations
  it('reads the size of a PNG of 4,295 megapixels from its header', async () => {
    const header = Buffer.alloc(13);
    header.writeUInt32BE(65_535, 0);
    header.writeUInt32BE(65_535, 4);
    header.writeUInt8(1, 8);
    const bytes = Buffer.concat([
      PNG_SIGNATURE,
      makePngChunk('IHDR', header),
      makePngChunk('IDAT', Buffer.alloc(0)),
      makePngChunk('IEND', Buffer.alloc(0)),
    ]);
    expect(await inspectBytes('png', bytes)).toMatchObject({ width: 65_535, height: 65_535 });
  });

  it.each([
    [60_000, 60_000, { width: 60_000, height: 60_000 }],
    [640, 480, { width: 1, height: 1, warning: expect.stringContaining('640x480 pixels, its frames cover 1x1') }],
    [1, 1, { width: 1, height: 1 }],
  ])(
    'reads the size of a GIF of one pixel on a logical screen of %d × %d as browsers show it, or warns',
    async (width, height, facts) => {
      expect(await inspectBytes('gif', gif({ width, height }, 1))).toEqual({ frames: 1, ...facts });
    },
  );

  // Promise, Bad input, case by case: Pixels, frames, pages, durations
  it('counts 2,001 frames of a GIF without decoding them', async () => {
    const frame = Buffer.from('2c00000000010001000002024c0100', 'hex');
    const bytes = Buffer.concat([
      Buffer.from('47494638396101000100800000000000ffffff', 'hex'),
      ...Array<Buffer>(2001).fill(frame),
      Buffer.from([0x3b]),
    ]);
    expect(await inspectBytes('gif', bytes)).toMatchObject({ frames: 2001 });
  });

  it('refuses bytes that are no image', async () => {
    for (const format of ['jpg', 'png', 'heic', 'bmp', 'dng'] as const) {
      await expect(inspectBytes(format, Buffer.from('nothing of the kind'.repeat(20)))).rejects.toMatchObject({
        code: 'processing_failed',
      });
    }
  });
});

describe('compress', () => {
  // Promise, Direct endpoints: Camera RAW is compressed, not converted
  it.each([
    ['photo-jpg', 'jpg'],
    ['photo-png', 'png'],
    ['photo-webp', 'webp'],
    ['photo-avif', 'avif'],
    ['photo-heic', 'heic'],
    ['animated-webp', 'webp'],
    ['photo-tiff', 'jpg'],
    ['bmp-8-bmp', 'png'],
    ['bmp-24-bmp', 'png'],
    ['bmp-32-alpha-bmp', 'png'],
    ['photo-dng', 'jpg'],
  ] as const)('encodes %s as a smaller %s', async (name, format) => {
    const produced = await compress(name);
    expect(produced.format).toBe(format);
    expect((await stat(produced.path)).size).toBeLessThan((await stat(fixture(name).path)).size);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('rotates an image of orientation %i upright', async (orientation) => {
    const name = orientation === 1 ? 'photo-jpg' : `orientation-${orientation}-jpg`;
    const produced = await compress(name);
    expect((await sharp(produced.path).metadata()).orientation ?? 1).toBe(1);
    for (const [x, y] of [
      [0.3, 0.4],
      [0.7, 0.67],
      [0.1, 0.9],
    ] as const) {
      expect(near(await sampleAt(produced.path, x, y), await sampleAt(fixture(name).path, x, y))).toBe(true);
    }
  });

  // Promise, Direct endpoints: Formats and resizing of images
  it.each([
    [{ mode: 'fit', width: 400, height: 400 }, 400, 300],
    [{ mode: 'fill', width: 400, height: 400 }, 400, 400],
    [{ mode: 'width', width: 800 }, 800, 600],
    [{ mode: 'height', height: 300 }, 400, 300],
    [{ mode: 'width', width: 5000 }, 1600, 1200],
    [{ mode: 'fill', width: 2000, height: 1800 }, 2000, 1800],
    [false, 1600, 1200],
  ] as const)('resizes 1600 × 1200 with %j to %i × %i', async (resize, width, height) => {
    expect((await compress('photo-jpg', { resize })).facts).toMatchObject({ width, height });
  });

  // Promise, Direct endpoints: Compress options change the result: quality, format, channels, rates, metadata
  it('writes fewer bytes for a lower quality, in every format', async () => {
    for (const format of ['jpg', 'webp', 'avif', 'gif', 'png'] as const) {
      const sizes: number[] = [];
      for (const quality of [20, 60, 95])
        sizes.push((await stat((await compress('text-png', { format, quality })).path)).size);
      expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
    }
  });

  it('writes a lossless PNG of the same depth at quality 100', async () => {
    const { path } = await compress('16-bit-png', { quality: 100 });
    const samples = (file: string) => sharp(file).toColourspace('rgb16').raw({ depth: 'ushort' }).toBuffer();
    expect((await samples(path)).equals(await samples(fixture('16-bit-png').path))).toBe(true);
  });

  it('writes a lossless PNG when the error of a palette would be visible', async () => {
    const produced = await compress('text-png', { quality: 99 });
    expect((await sharp(produced.path).metadata()).isPalette).toBe(false);
    expect((await sharp((await compress('text-png', { quality: 60 })).path).metadata()).isPalette).toBe(true);
  });

  // Promise, Direct endpoints: Compress options change the result: quality, format, channels, rates, metadata
  it('removes camera details, and keeps them on request', async () => {
    for (const format of ['jpg', 'webp', 'avif', 'heic'] as const) {
      const [clean, full] = await Promise.all([
        compress('orientation-6-jpg', { format }),
        compress('orientation-6-jpg', { format, strip_metadata: false }),
      ]);
      expect((await readFile(clean.path)).includes(PLANTED.make)).toBe(false);
      expect((await readFile(full.path)).includes(PLANTED.make)).toBe(true);
      expect((await sharp(full.path).metadata()).orientation ?? 1).toBe(1);
    }
  });

  it.each(['jpg', 'png', 'webp', 'avif', 'heic'] as const)('keeps a wide-gamut profile in %s', async (format) => {
    const { icc } = await sharp((await compress('p3-jpg', { format })).path).metadata();
    expect(icc).toEqual((await sharp(fixture('p3-jpg').path).metadata()).icc);
  });

  it('drops the profile of sRGB and converts CMYK through its own', async () => {
    expect((await sharp((await compress('photo-jpg')).path).metadata()).icc).toBeUndefined();
    const produced = await compress('cmyk-jpg');
    expect((await sharp(produced.path).metadata()).space).toBe('srgb');
    expect(near(await sampleAt(produced.path, 0.1, 0.1), await sampleAt(fixture('p3-jpg').path, 0.1, 0.1))).toBe(true);
  });

  it('keeps the colors of samples of 16 bits with the profile of sRGB', async () => {
    const color = { r: 39, g: 115, b: 198 };
    const path = join(await freshDirectory(), 'deep.png');
    await sharp({ create: { width: 64, height: 64, channels: 3, background: color } })
      .toColourspace('rgb16')
      .withIccProfile('srgb')
      .png()
      .toFile(path);
    for (const to of ['jpg', 'png', 'webp', 'gif', 'tiff'] as const) {
      const requested = await workOn({ path, format: 'png', operation: 'convert', options: { convert: { to } } });
      const produced = await runHandler(imageHandler, requested);
      const samples = await sharp(produced.path, { ignoreIcc: true }).toColourspace('srgb').raw().toBuffer();
      expect(near([...samples.subarray(0, 3)], Object.values(color), 4), to).toBe(true);
    }
  });

  it('recompresses an animated PNG without changing a pixel', async () => {
    const produced = await compress('animated-png');
    expect(produced).toMatchObject({ facts: { frames: 3 }, warnings: [expect.stringContaining('animated')] });
    expect((await stat(produced.path)).size).toBeLessThan((await stat(fixture('animated-png').path)).size);
    const samples = (path: string) => sharp(path).raw().toBuffer();
    expect((await samples(produced.path)).equals(await samples(fixture('animated-png').path))).toBe(true);
  });

  it('warns that an animated PNG keeps its dimensions, also when the original is kept', async () => {
    const work = await animatedRow(2001);
    const facts = await imageHandler.inspect(engineDeps(), work);
    const file = { handler: imageHandler, work, facts };
    const output = await compressOrKeep(engineDeps(), file);
    const { result } = await makeReport(file, output, { inputSha256: '', outputSha256: '', tools: {} });
    expect(result).toMatchObject({ kept_original: true, width: 2001, height: 1 });
    expect(result.warnings).toEqual([expect.stringContaining('2001 × 1 pixels')]);
  });

  it.each([
    ['fits into the requested dimensions', 2000, {}],
    ['is not resized', 2001, { resize: false }],
    ['becomes another format', 2001, { format: 'webp' }],
  ] as const)('does not warn about the dimensions of an animated PNG that %s', async (_what, width, image) => {
    const facts = await imageHandler.inspect(engineDeps(), await animatedRow(width, image));
    expect(facts.warning).toBeUndefined();
  });

  it('refuses an animated PNG that is too large to be read into memory', async () => {
    const work = await animatedRow(10);
    await truncate(work.input.path, 2 ** 31);
    await expect(runHandler(imageHandler, work)).rejects.toMatchObject({
      code: 'limit_exceeded',
      message: expect.stringContaining('2147483648 bytes'),
    });
  });

  it('rotates camera RAW that was taken in portrait orientation', async () => {
    const bytes = await readFile(fixture('photo-dng').path);
    const orientation = bytes.indexOf(Buffer.from('120103000100000001', 'hex'));
    bytes[orientation + 8] = 6;
    const path = join(await freshDirectory(), 'upright.dng');
    await writeFile(path, bytes);
    const requested = await workOn({
      path,
      format: 'dng',
      operation: 'compress',
      options: { image: { format: 'jpg' } },
    });
    expect((await runHandler(imageHandler, requested)).facts).toMatchObject({ width: 240, height: 320 });
  });

  it('warns about pages that are dropped', async () => {
    expect((await compress('two-pages-tiff')).warnings).toEqual([expect.stringContaining('2 pages')]);
  });

  // Promise, Bad input, case by case: Damaged files
  it('refuses a truncated image', async () => {
    const whole = await readFile(fixture('photo-jpg').path);
    const path = join(await freshDirectory(), 'cut.jpg');
    await writeFile(path, whole.subarray(0, whole.length / 2));
    const truncated = await workOn({ path, format: 'jpg', operation: 'compress' });
    await expect(runHandler(imageHandler, truncated)).rejects.toMatchObject({ code: 'processing_failed' });
  });

  it('refuses a side that is longer than the format allows', async () => {
    const path = join(await freshDirectory(), 'long.png');
    await photo(17_000, 8).png().toFile(path);
    const long = await workOn({
      path,
      format: 'png',
      operation: 'compress',
      options: { image: { format: 'webp', resize: false } },
    });
    await expect(runHandler(imageHandler, long)).rejects.toMatchObject({
      code: 'limit_exceeded',
      message: expect.stringContaining('the maximum side of WebP is 16383'),
    });
  });
});

describe('convert', () => {
  const TARGETS = ['jpg', 'png', 'webp', 'avif', 'heic', 'tiff', 'bmp', 'gif', 'pdf'] as const;
  const INPUTS = [
    'p3-jpg',
    'alpha-png',
    'alpha-webp',
    'alpha-avif',
    'photo-heic',
    'photo-tiff',
    'bmp-8-bmp',
    'animated-gif',
    'cmyk-jpg',
    'grey-jpg',
    '16-bit-png',
  ];

  it.each(INPUTS)('writes %s in every format, in its size', async (name) => {
    const { width, height } = await imageHandler.inspect(
      engineDeps(),
      await work(name, 'convert', { convert: { to: 'png' } }),
    );
    for (const to of TARGETS) expect(await convert(name, to)).toMatchObject({ format: to, facts: { width, height } });
  });

  it('composites transparency on white for formats without it', async () => {
    expect(near(await sampleAt((await convert('alpha-png', 'jpg')).path, 0.001, 0.5), [255, 255, 255])).toBe(true);
  });

  it('keeps transparency in formats that have it', async () => {
    for (const to of ['png', 'webp', 'avif', 'heic', 'tiff', 'gif'] as const) {
      expect((await sharp((await convert('alpha-png', to)).path).metadata()).hasAlpha).toBe(true);
    }
    expect((await readFile((await convert('alpha-png', 'pdf')).path)).includes('/SMask')).toBe(true);
  });

  // Promise, Direct endpoints: Frames are kept where the target has them, else one with a warning
  it.each([
    ['animated-gif', 'webp'],
    ['animated-webp', 'gif'],
    ['animated-gif', 'gif'],
  ] as const)('keeps frames, loop and duration from %s to %s', async (name, to) => {
    const produced = await convert(name, to);
    const facts = async (path: string) => {
      const { delay = [], loop } = await sharp(path, { animated: true }).metadata();
      return { loop, length: delay.reduce((sum, ms) => sum + ms, 0) };
    };
    expect(produced.facts.frames).toBeGreaterThan(4);
    expect(produced.warnings).toEqual([]);
    expect(await facts(produced.path)).toEqual(await facts(fixture(name).path));
  });

  // Promise, Direct endpoints: Frames are kept where the target has them, else one with a warning
  it.each(['animated-gif', 'animated-webp', 'animated-png'])(
    'writes the first frame of %s to a still target, with a warning',
    async (name) => {
      const produced = await convert(name, 'jpg');
      expect(produced).toMatchObject({ facts: { frames: 1 }, warnings: [expect.stringContaining('first')] });
    },
  );

  it('names the still target with its article', async () => {
    const { warnings } = await convert('animated-gif', 'avif');
    expect(warnings).toEqual([expect.stringContaining('an AVIF file cannot contain all')]);
  });

  it.each(['compress', 'convert'] as const)(
    'warns about a PNG whose only frame is not its still image: %s',
    async (operation) => {
      const chunks = readPngChunks(await photo(64, 48).png().toBuffer())!;
      const [header, ...others] = chunks.filter(({ type }) => type === 'IHDR' || type === 'IDAT' || type === 'IEND');
      const pixels = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data));
      const control = Buffer.alloc(26);
      control.writeUInt32BE(64, 4);
      control.writeUInt32BE(48, 8);
      const animation = [
        makePngChunk('fcTL', control),
        makePngChunk('fdAT', Buffer.concat([Buffer.from([0, 0, 0, 1]), pixels])),
      ];
      const written = [header!, ...others].map(({ whole }) => whole);
      written.splice(1, 0, makePngChunk('acTL', Buffer.from([0, 0, 0, 1, 0, 0, 0, 0])));
      written.splice(-1, 0, ...animation);
      const path = join(await freshDirectory(), 'one-frame.png');
      await writeFile(path, Buffer.concat([PNG_SIGNATURE, ...written]));
      const options = { image: { format: 'webp' }, convert: { to: 'webp' } } as const;
      const { warnings } = await runHandler(imageHandler, await workOn({ path, format: 'png', operation, options }));
      expect(warnings).toEqual([expect.stringContaining('animated')]);
    },
  );

  it.each([
    ['soft', 0.3, [expect.stringContaining('partly transparent')]],
    ['opaque or not there', 0, []],
  ] as const)('warns about partly transparent pixels in a GIF: %s', async (_how, alpha, warnings) => {
    const path = join(await freshDirectory(), 'soft.webp');
    await photo(640, 480)
      .composite([
        {
          input: { create: { width: 99, height: 99, channels: 4, background: { r: 9, g: 9, b: 9, alpha } } },
          blend: 'source',
          left: 31,
          top: 7,
        },
      ])
      .webp({ lossless: true })
      .toFile(path);
    const requested = await workOn({ path, format: 'webp', operation: 'convert', options: { convert: { to: 'gif' } } });
    expect((await runHandler(imageHandler, requested)).warnings).toEqual(warnings);
  });

  it.each(['gif', 'webp', 'png'] as const)('draws the empty margins of a GIF with transparency in %s', async (to) => {
    const path = join(await freshDirectory(), 'margins.gif');
    const bytes = gif({ width: 640, height: 480 }, 1);
    const control = bytes.indexOf(Buffer.from([0x21, 0xf9]));
    // The second color, which no pixel has, is the transparent one.
    bytes.set([1], control + 3);
    bytes.set([1], control + 6);
    await writeFile(path, bytes);
    const one = await workOn({ path, format: 'gif', operation: 'convert', options: { convert: { to } } });
    const produced = await runHandler(imageHandler, one);
    expect(produced.facts).toMatchObject({ width: 640, height: 480 });
    const { data } = await sharp(produced.path).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
    expect([data[3], data.at(-1)]).toEqual([255, 0]);
    const facts = await imageHandler.inspect(engineDeps(), one);
    await imageHandler.verify(engineDeps(), one, facts, produced);
  });

  it('keeps 16 bits in PNG and TIFF', async () => {
    for (const to of ['png', 'tiff'] as const)
      expect((await sharp((await convert('16-bit-png', to)).path).metadata()).depth).toBe('ushort');
  });

  it('embeds a JPEG in a PDF without changing a pixel and shows it upright', async () => {
    const { path } = await convert('orientation-6-jpg', 'pdf');
    const pdf = await readFile(path);
    const jpeg = await readFile(fixture('orientation-6-jpg').path);
    expect([pdf.includes(stripJpeg(jpeg)), pdf.includes(PLANTED.make)]).toEqual([true, false]);
    const page = await rendered(path);
    expect(await sharp(page).metadata()).toMatchObject({ width: 240, height: 320 });
    for (const [x, y] of [
      [0.5, 0.3],
      [0.2, 0.75],
      [0.9, 0.9],
    ] as const) {
      expect(near(await sampleAt(page, x, y), await sampleAt(fixture('orientation-6-jpg').path, x, y))).toBe(true);
    }
  });

  it('writes a bilevel image to a PDF with one bit per pixel', async () => {
    const { path } = await convert('1-bit-tiff', 'pdf');
    expect((await readFile(path, 'latin1')).match(/\/DeviceGray \/BitsPerComponent 1 /g)).toHaveLength(1);
    const embedded = join(await freshDirectory(), 'image');
    await runPoppler('pdfimages', '-png', path, embedded);
    const samples = (file: string): Promise<Buffer> =>
      sharp(file).toColourspace('b-w').raw({ depth: 'uchar' }).toBuffer();
    expect((await samples(`${embedded}-000.png`)).equals(await samples(fixture('1-bit-tiff').path))).toBe(true);
  });

  // Promise, Direct endpoints: Camera RAW is compressed, not converted
  it('refuses camera RAW', async () => {
    await expect(convert('photo-dng', 'jpg')).rejects.toMatchObject({ code: 'unsupported_input' });
  });
});

describe('verify', () => {
  it('rejects an output of another size, and one that does not decode', async () => {
    const one = await work('photo-jpg', 'compress');
    const facts = await imageHandler.inspect(engineDeps(), one);
    const produced = await runHandler(imageHandler, one);
    const small = join(one.directory, 'small.jpg');
    await photo(800, 600).jpeg().toFile(small);
    await expect(
      imageHandler.verify(engineDeps(), one, facts, { ...produced, path: small, facts: await inspectPath(one, small) }),
    ).rejects.toThrow(/800 × 600/);
    await writeFile(produced.path, (await readFile(produced.path)).subarray(0, 20_000));
    await expect(imageHandler.verify(engineDeps(), one, facts, produced)).rejects.toThrow();
  });

  it('accepts one frame instead of an animation only if its frames are equal', async () => {
    const path = join(await freshDirectory(), 'equal.gif');
    await writeFile(path, gif({ width: 8, height: 8 }, 3));
    const still = await workOn({ path, format: 'gif', operation: 'convert', options: { convert: { to: 'webp' } } });
    const produced = await runHandler(imageHandler, still);
    const facts = await imageHandler.inspect(engineDeps(), still);
    expect([facts.frames, produced.facts.frames]).toEqual([3, 1]);
    await imageHandler.verify(engineDeps(), still, facts, produced);
    const first = join(still.directory, 'first.webp');
    await photo(320, 240).webp().toFile(first);
    await expect(
      imageHandler.verify(engineDeps(), still, await inspectPath(still, fixture('animated-gif').path), {
        ...produced,
        path: first,
        facts: await inspectPath(still, first),
      }),
    ).rejects.toThrow(/animation lasts/);
  });
});
