import { stat, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { engineDeps, workOn } from '#test/fixtures/engine-work.ts';
import { drawVideo } from '#test/fixtures/make-media-fixtures.ts';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import type { Work } from '#worker-image/engine/handler.ts';
import { compareSeconds, encode } from '#worker-image/engine/media/run-encoder.ts';
import { probe } from '#worker-image/engine/media/probe.ts';

const COPY = ['-map', '0:0', '-c', 'copy'];
let video: Buffer;

beforeAll(async () => {
  video = await drawVideo('testsrc2=size=64x64:rate=25:duration=1');
});

async function workOf(bytes: Buffer): Promise<Work> {
  const path = `${await freshDirectory()}/input.mp4`;
  await writeFile(path, bytes);
  return workOn({ path, format: 'mp4', operation: 'convert' });
}

describe('encode', () => {
  it('writes a file of the format under the given name and reports its progress up to 100', async () => {
    const percents: number[] = [];
    const deps = engineDeps({ onProgress: (percent) => percents.push(percent) });
    const work = await workOf(video);
    const run = { work, format: 'mkv', outputOptions: COPY, seconds: 0.5, name: 'copied' } as const;
    const { path, written } = await encode(deps, run);
    expect(path).toBe(`${work.directory}/copied.mkv`);
    expect(written).toEqual({ bytes: (await stat(path)).size, checksum: null });
    expect((await probe(deps, work, { path, format: 'mkv' })).video).toMatchObject({ width: 64, codec_name: 'h264' });
    expect(percents.at(-1)).toBe(100);
  });

  it.each([
    ['ffmpeg cannot open the file', async () => workOf(Buffer.from('no video')), COPY],
    ['ffmpeg rejects its options', async () => workOf(video), ['-map', '0:9']],
  ])('refuses the file when %s, with its messages as the cause', async (_what, make, outputOptions) => {
    const run = { work: await make(), format: 'mp4', outputOptions, seconds: 1 } as const;
    await expect(encode(engineDeps(), run)).rejects.toMatchObject({
      code: 'processing_failed',
      cause: expect.stringMatching(/^ffmpeg \d+: ./),
    });
  });

  it('throws the reason of an abort', async () => {
    const reason = new Error('no longer wanted');
    const run = { work: await workOf(video), format: 'mp4', outputOptions: COPY, seconds: 1 } as const;
    await expect(encode(engineDeps({ signal: AbortSignal.abort(reason) }), run)).rejects.toBe(reason);
  });
});

describe('compareSeconds', () => {
  it.each([
    [10, 11, 1],
    [100, 98, 1],
    [1, 1.1, 0.15],
  ])('accepts an input of %s and an output of %s seconds with a tolerance of %s', (input, output, tolerance) => {
    expect(() => compareSeconds(input, output, tolerance)).not.toThrow();
  });

  it.each([
    [10, 11.1, 1],
    [100, 97.9, 1],
    [1, 1.2, 0.15],
  ])('rejects an input of %s and an output of %s seconds with a tolerance of %s', (input, output, tolerance) => {
    expect(() => compareSeconds(input, output, tolerance)).toThrow(`the output lasts ${output} seconds`);
  });
});
