import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { outputOf } from '#test/fixtures/encoder-output.ts';
import { engineDeps, freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { photoLike } from '#test/fixtures/photo-like.ts';
import { writeGif, type WrittenGif } from '#test/fixtures/write-gif.ts';
import { encodeGif, gifSettings } from '#worker-image/engine/image/encode/encode-gif.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';
import type { ProducedImage } from '#worker-image/engine/image/picture.ts';

describe('gifSettings', () => {
  it.each([
    [100, 256, 0, true],
    [90, 223, 2, true],
    [89, 215, 2, false],
    [0, 8, 17, false],
  ])('of quality %d use %d colors, an error of %d, the palette of the file: %j', (quality, colours, error, reuse) => {
    expect(gifSettings(quality)).toMatchObject({ colours, interFrameMaxError: error, reuse });
  });
});

describe('encodeGif', () => {
  it('writes the colors of a flat image', async () => {
    const output = await outputOf(sharp({ create: { width: 9, height: 7, channels: 3, background: '#258' } }));
    await encodeGif(engineDeps(), output);
    const { data, info } = await sharp(output.path).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, ...data.subarray(0, 3)]).toEqual([9, 7, 0x22, 0x55, 0x88]);
  });
});

interface Produced extends ProducedImage {
  readonly bytes: Buffer;
  /** Names of the programs that were started. */
  readonly tools: readonly string[];
}

async function produce(gif: Buffer, image: object | null): Promise<Produced> {
  const path = join(await freshDirectory(), 'input.gif');
  await writeFile(path, gif);
  const tools: string[] = [];
  const { run } = engineDeps();
  const deps = engineDeps({
    run: (command) => {
      tools.push(command.file);
      return run(command);
    },
  });
  const work = await workOn({
    path,
    format: 'gif',
    operation: image === null ? 'convert' : 'compress',
    options: image === null ? { convert: { to: 'gif' } } : { image },
  });
  const produced = await runHandler(imageHandler, work, deps);
  return { ...produced, bytes: await readFile(produced.path), tools };
}

const SIZE = { width: 240, height: 160 };

/** Returns an animation of a photo that moves. */
async function movingPhoto(): Promise<Buffer> {
  const whole = sharp(photoLike({ width: 320, height: 240 }), { raw: { width: 320, height: 240, channels: 3 } });
  const frames = [0, 20, 40].map((left) =>
    whole
      .clone()
      .extract({ left, top: 9, ...SIZE })
      .png()
      .toBuffer(),
  );
  return sharp(await Promise.all(frames), { join: { animated: true } })
    .gif({ delay: [50, 70, 90], loop: 4 })
    .toBuffer();
}

const COLORS = ['ff0000', '00ff00', '0000ff', 'ffffff'];
const drawing = (more: Partial<WrittenGif> = {}): WrittenGif => ({
  width: 40,
  height: 30,
  colors: COLORS,
  loop: 0,
  frames: [0, 1, 2].map((seed) => ({ width: 40, height: 30, delay: 9, pixel: (x, y) => ((x >> 2) + y + seed) % 4 })),
  ...more,
});

/** Returns the pixels of all frames as libvips decodes them. */
function pixelsOf(file: Buffer): Promise<Buffer> {
  return sharp(file, { animated: true }).ensureAlpha().raw().toBuffer();
}

describe('a GIF', () => {
  it('is converted to GIF without a change of its pixels', async () => {
    const gif = await movingPhoto();
    const { bytes, tools, facts } = await produce(gif, null);
    expect(tools).toEqual(['gifsicle']);
    expect(facts).toMatchObject({ ...SIZE, frames: 3 });
    expect((await pixelsOf(bytes)).equals(await pixelsOf(gif))).toBe(true);
    const { delay, loop } = await sharp(bytes, { animated: true }).metadata();
    expect({ delay, loop }).toEqual({ delay: [50, 70, 90], loop: 4 });
  });

  it('is compressed with losses below the best quality', async () => {
    const gif = await movingPhoto();
    const sizes: number[] = [];
    for (const quality of [100, 75]) sizes.push((await produce(gif, { quality })).bytes.length);
    expect(sizes[0]).toBeLessThan(gif.length * 1.02);
    expect(sizes[1]).toBeLessThan(gif.length * 0.9);
  });

  it('is compressed in a smaller size with its delays and loop', async () => {
    const { bytes, tools, facts } = await produce(await movingPhoto(), {
      quality: 75,
      resize: { width: 120, height: 120 },
    });
    expect(tools).toContain('gifsicle');
    expect(facts).toMatchObject({ width: 120, height: 80, frames: 3 });
    const { delay, loop } = await sharp(bytes, { animated: true }).metadata();
    expect({ delay, loop }).toEqual({ delay: [50, 70, 90], loop: 4 });
  });

  it.each<readonly [string, Buffer]>([
    [
      'text',
      writeGif(drawing({ blocks: [Buffer.from('21010c0000000008000800080801000248690 0'.replace(' ', ''), 'hex')] })),
    ],
    [
      'a frame beyond its screen',
      writeGif(drawing({ frames: [...drawing().frames, { ...drawing().frames[0]!, left: 1 }] })),
    ],
    ['margins that libvips crops', writeGif(drawing({ width: 640, height: 480 }))],
  ])('with %s is written by libvips', async (_what, gif) => {
    const { facts, written } = await produce(gif, null);
    expect(written?.undecoded).toBeUndefined();
    expect(facts.frames).toBe((await sharp(gif, { animated: true }).metadata()).pages);
  });
});
