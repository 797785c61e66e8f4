import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { engineDeps, freshDirectory } from '#test/fixtures/engine-work.ts';
import { photoLike } from '#test/fixtures/photo-like.ts';
import { COMMENT_BLOCK, writeGif, XMP_BLOCK, type WrittenGif, type WrittenGifFrame } from '#test/fixtures/write-gif.ts';
import { compareGifs, readGif } from '#worker-image/engine/image/encode/compare-gifs.ts';
import { compressGif, type GifTask } from '#worker-image/engine/image/encode/compress-gif.ts';
import type { WrittenFile } from '#worker-image/engine/written-file.ts';

const SIZE = { width: 24, height: 16 };
const MAX_FRAMES = 10;
const COLORS = ['ff0000', '00ff00', '0000ff', 'ffffff', '123456', '888888', 'aaaa00', '000000'];
const drawn = (seed: number, more: Partial<WrittenGifFrame> = {}): WrittenGifFrame => ({
  ...SIZE,
  delay: 10,
  pixel: (x, y) => (x + 3 * y + seed) % 7,
  ...more,
});
const part = (seed: number, more: Partial<WrittenGifFrame> = {}): WrittenGifFrame =>
  drawn(seed, { left: 3, top: 2, width: 5, height: 4, ...more });
const gifOf = (frames: readonly WrittenGifFrame[], more: Partial<WrittenGif> = {}): Buffer =>
  writeGif({ ...SIZE, colors: COLORS, frames, ...more });

/** Returns the file with other pixel data at its end. */
function withBrokenEnd(file: Buffer): Buffer {
  return file.fill(0xff, file.length - 150, file.length - 2);
}

interface Compressed {
  readonly written: WrittenFile | null;
  /** The written file, or an empty one. */
  readonly bytes: Buffer;
}

async function compress(file: Buffer, over: Partial<GifTask> = {}, deps = engineDeps()): Promise<Compressed> {
  const directory = await freshDirectory();
  const [input, path] = [join(directory, 'input.gif'), join(directory, 'out.gif')];
  await writeFile(input, file);
  const { pages: frames = 1, width, height, pageHeight = height } = await sharp(file, { animated: true }).metadata();
  const size = { width, height: pageHeight };
  const written = await compressGif(deps, { input, path, directory, size, frames, loss: 0, ...over });
  return { written, bytes: written === null ? Buffer.alloc(0) : await readFile(path) };
}

function requireSame(before: Buffer, after: Buffer): Promise<void> {
  const [one, other] = [before, after].map((file) => readGif(file, MAX_FRAMES));
  return compareGifs(one!, other!, { maxDifference: 0, signal: engineDeps().signal });
}

const TRANSPARENT = { transparent: 1 } as const;

describe('compressGif', () => {
  it.each<readonly [string, Buffer]>([
    ['one frame', gifOf([drawn(0)])],
    ['interlaced frames', gifOf([drawn(0, { isInterlaced: true }), part(1, { isInterlaced: true })])],
    ['color tables of its frames', gifOf([drawn(0, { colors: COLORS.toReversed() }), part(2, { colors: COLORS })])],
    [
      'color tables of its frames only',
      writeGif({ ...SIZE, frames: [drawn(0, { colors: COLORS }), part(2, { colors: COLORS })] }),
    ],
    ...[0, 1, 2, 3].map(
      (disposal) =>
        [
          `transparent frames of the disposal ${disposal}`,
          gifOf([
            drawn(0, { ...TRANSPARENT, disposal }),
            part(1, { ...TRANSPARENT, disposal }),
            part(4, TRANSPARENT),
            drawn(2),
          ]),
        ] as const,
    ),
    ['frames of one pixel', gifOf([drawn(0), ...[1, 2, 3].map((at) => part(at, { width: 1, height: 1, left: at }))])],
    ['a first frame that does not cover the screen', gifOf([drawn(0), part(1)].toReversed())],
    ['equal frames', gifOf([drawn(0), drawn(0), drawn(0, { delay: 200 }), drawn(1), drawn(1)])],
    [
      'frames that are transparent everywhere',
      gifOf([drawn(0), drawn(1, { transparent: 7, pixel: () => 7 }), drawn(2)]),
    ],
    ['delays of 0, 1 and 65,535 hundredths', gifOf([0, 1, 65_535].map((delay) => drawn(delay, { delay })))],
    ['frames without a delay', gifOf([drawn(0, { isControlled: false }), part(1, { isControlled: false })])],
    ['no loop', gifOf([drawn(0), drawn(1)])],
    ['an endless loop', gifOf([drawn(0), drawn(1)], { loop: 0 })],
    ['a loop of 7', gifOf([drawn(0), drawn(1)], { loop: 7 })],
    ['no trailer', gifOf([drawn(0), part(1)]).subarray(0, -1)],
    ['bytes after its trailer', Buffer.concat([gifOf([drawn(0), part(1)]), Buffer.from('GIF89a and more')])],
  ])('keeps what browsers show of a GIF with %s', async (_what, file) => {
    const { written, bytes } = await compress(file);
    expect(written).toMatchObject({ bytes: bytes.length, undecoded: 'nothing' });
    await requireSame(file, bytes);
  });

  it('keeps more than 256 colors of an animation', async () => {
    const { width, height } = { width: 64, height: 48 };
    const frames = [0, 100, 200].map((shift) => {
      const colors = Array.from({ length: 256 }, (_, i) =>
        ((i * 65_793 + shift * 77) % 0x100_0000).toString(16).padStart(6, '0'),
      );
      return { width, height, delay: 5, colors, pixel: (x: number, y: number) => (x * 4 + y) % 256 };
    });
    const file = writeGif({ width, height, frames });
    await requireSame(file, (await compress(file)).bytes);
  });

  it('removes comments and XMP', async () => {
    const { bytes } = await compress(gifOf([drawn(0), drawn(1)], { loop: 0, blocks: [COMMENT_BLOCK, XMP_BLOCK] }));
    expect(bytes.includes('hello')).toBe(false);
    expect(bytes.includes('XMP')).toBe(false);
    expect(bytes.includes('NETSCAPE2.0')).toBe(true);
  });

  it('makes a photo smaller the more, the greater the loss', async () => {
    const size = { width: 320, height: 240 };
    const file = await sharp(photoLike(size), { raw: { ...size, channels: 3 } })
      .gif()
      .toBuffer();
    const sizes: number[] = [];
    for (const loss of [0, 10, 100]) sizes.push((await compress(file, { loss })).bytes.length);
    expect(sizes[0]).toBeLessThan(file.length * 1.01);
    expect(sizes.toSorted((a, b) => b - a)).toEqual(sizes);
    expect(sizes[2]).toBeLessThan(file.length * 0.7);
  });

  it.each<readonly [string, Buffer, Partial<GifTask>]>([
    ['a truncated frame', gifOf([drawn(0), drawn(1)]).subarray(0, -9), {}],
    ['a frame beyond its screen', gifOf([drawn(0), part(1, { left: 20 })]), {}],
    ['a second frame that cannot be decoded', withBrokenEnd(gifOf([drawn(0), drawn(1)])), {}],
    ['another size than libvips reads', gifOf([drawn(0)]), { size: { width: 5, height: 4 } }],
    ['fewer frames than libvips reads', gifOf([drawn(0)]), { frames: 2 }],
    ['more frames than libvips reads', gifOf([drawn(0), drawn(1)]), { frames: 1 }],
  ])('leaves a GIF with %s to others', async (_what, file, over) => {
    expect((await compress(file, over)).written).toBeNull();
  });

  it('leaves a file of more than 128 MiB to others', async () => {
    const input = join(await freshDirectory(), 'large.gif');
    await writeFile(input, gifOf([drawn(0)]));
    await truncate(input, 128 * 1024 ** 2 + 1);
    expect((await compress(gifOf([drawn(0)]), { input })).written).toBeNull();
  });

  it.each<readonly [string, (path: string) => Promise<unknown>]>([
    ['nothing', () => Promise.resolve()],
    ['a file that is no GIF', (path) => writeFile(path, 'no GIF')],
    ['another frame', (path) => writeFile(path, gifOf([drawn(3)]))],
  ])('rejects a program that writes %s', async (_what, write) => {
    const run = async ({ args }: { args: readonly string[] }) => {
      await write(args[args.indexOf('-o') + 1] ?? '');
      return { exitCode: 0, stdout: '', stderr: '' };
    };
    expect((await compress(gifOf([drawn(0)]), {}, engineDeps({ run }))).written).toBeNull();
  });

  it('tries again without losses when a result with losses shows something else', async () => {
    const file = gifOf([drawn(0)]);
    const { run } = engineDeps();
    const losses: boolean[] = [];
    const damaging: typeof run = async (command) => {
      const isLossy = command.args.some((argument) => argument.startsWith('--lossy'));
      losses.push(isLossy);
      const result = await run(command);
      if (isLossy) await writeFile(join(command.directory, 'out.gif'), gifOf([drawn(3)]));
      return result;
    };
    const { bytes } = await compress(file, { loss: 20 }, engineDeps({ run: damaging }));
    await requireSame(file, bytes);
    expect(losses).toEqual([true, false]);
  });

  it('ends with the reason of an abort', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(compress(gifOf([drawn(0)]), {}, engineDeps({ signal }))).rejects.toThrow('enough');
  });
});
