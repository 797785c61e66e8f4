import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { runTool } from '#test/fixtures/run-tool.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';

/** Returns the path of an AVIF that is black on the left and white on the right. */
async function grayAvif(range: 'tv' | 'pc', pixels: string): Promise<string> {
  const directory = await freshDirectory();
  const path = join(directory, 'gray.avif');
  const picture = `drawbox=x=64:w=64:h=64:color=white:t=fill,scale=out_range=${range},format=${pixels}`;
  const source = ['-f', 'lavfi', '-i', 'color=black:s=128x64', '-frames:v', '1', '-vf', picture];
  const coding = ['-color_range', range, '-c:v', 'libaom-av1', '-still-picture', '1', '-cpu-used', '8', '-crf', '5'];
  await runTool(directory, 'ffmpeg', ['-v', 'error', ...source, ...coding, path]);
  return path;
}

describe('a gray AVIF', () => {
  it.each([
    ['tv', 'gray'],
    ['tv', 'gray10le'],
    ['pc', 'gray'],
    ['tv', 'yuv420p'],
  ] as const)('of range %s and pixel format %s keeps black and white', async (range, pixels) => {
    const path = await grayAvif(range, pixels);
    const options = { convert: { to: 'png' } } as const;
    const work = await workOn({ path, format: 'avif', operation: 'convert', options });
    const { path: written } = await runHandler(imageHandler, work);
    const { data, info } = await sharp(written).toColourspace('b-w').raw().toBuffer({ resolveWithObject: true });
    expect(data[0]).toBeLessThan(4);
    expect(data[(info.width - 1) * info.channels]).toBeGreaterThan(251);
  });
});
