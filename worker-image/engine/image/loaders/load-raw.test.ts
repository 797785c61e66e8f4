import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { engineDeps, freshDirectory } from '#test/fixtures/engine-work.ts';
import { developRaw, readRawSize } from '#worker-image/engine/image/loaders/load-raw.ts';
import type { ImageFile } from '#worker-image/engine/image/picture.ts';

const file = async (): Promise<ImageFile> => ({
  path: '/job/input.dng',
  format: 'dng',
  directory: await freshDirectory(),
  maxPixels: 1,
});

describe('readRawSize', () => {
  const sizeOf = async (stdout: string) =>
    readRawSize(engineDeps({ run: () => Promise.resolve({ exitCode: 0, stdout, stderr: '' }) }), await file());

  it('returns the size after development', async () => {
    const printed = 'Full size:   4000 x 3000\nOutput size: 3984 x 2988\nThumb size: 160 x 120\n';
    expect(await sizeOf(printed)).toEqual({ width: 3984, height: 2988 });
  });

  it.each(['', 'Output size: 0 x 10', 'Output size: 99999999999 x 10', 'Output size: 10 x 10 pixels'])(
    'refuses a file of which the tool prints %j',
    async (printed) => {
      await expect(sizeOf(printed)).rejects.toMatchObject({ code: 'processing_failed' });
    },
  );
});

describe('developRaw', () => {
  it('returns the file that the tool writes beside its input', async () => {
    const input = await file();
    const run = async ({ args }: { args: readonly string[] }) => {
      await writeFile(`${args.at(-1)}.tiff`, 'pixels');
      return { exitCode: 0, stdout: '', stderr: '' };
    };
    expect(await developRaw(engineDeps({ run }), input)).toBe(`${input.directory}/raw.tiff`);
  });

  it('refuses a file for which the tool writes none, though it reports success', async () => {
    const run = () => Promise.resolve({ exitCode: 0, stdout: '', stderr: '' });
    await expect(developRaw(engineDeps({ run }), await file())).rejects.toMatchObject({ code: 'processing_failed' });
  });
});
