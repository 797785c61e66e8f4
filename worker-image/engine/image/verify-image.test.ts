import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Format, Operation } from '#crds/catalogue/formats.ts';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import { engineDeps, freshDirectory, workOn } from '#test/fixtures/engine-work.ts';
import type { ImageFacts, ProducedImage, Picture } from '#worker-image/engine/image/picture.ts';
import type { WrittenFile } from '#worker-image/engine/written-file.ts';
import { verifyImage } from '#worker-image/engine/image/verify-image.ts';

let directory = '';
beforeAll(async () => {
  directory = await freshDirectory();
});

interface Pictured {
  readonly width?: number;
  readonly height?: number;
  readonly delays?: readonly number[];
  readonly isStill?: boolean;
  readonly verify?: Picture['verify'];
}

function factsOf({ width = 200, height = 100, delays, isStill = false, verify }: Pictured): ImageFacts {
  const frames = delays?.length ?? 1;
  const animation = delays === undefined ? null : { delays, frames, isStill: () => Promise.resolve(isStill) };
  const picture = { size: { width, height }, frames, animation, verify: verify ?? (() => Promise.resolve()) };
  return { width, height, frames, picture: picture as unknown as Picture };
}

interface Verified {
  readonly before?: Pictured;
  readonly after?: Pictured | null;
  readonly operation?: Operation;
  readonly options?: SentOptions;
  readonly format?: Format;
  readonly bytes?: string;
  readonly undecoded?: WrittenFile['undecoded'];
}

async function verified({
  before = {},
  after = {},
  operation = 'compress',
  options = {},
  format = 'jpg',
  bytes = 'x',
  undecoded,
}: Verified): Promise<void> {
  const path = join(directory, 'output');
  await writeFile(path, bytes);
  const work = await workOn({ path, format: 'png', operation, options });
  const facts: ProducedImage['facts'] = after === null ? {} : factsOf(after);
  const written = undecoded && { bytes: bytes.length, checksum: 0, undecoded };
  await verifyImage(engineDeps(), work, factsOf(before), { path, format, facts, warnings: [], written });
}

const HALVED: SentOptions = { image: { resize: { mode: 'fit', width: 100, height: 100 } } } as unknown as SentOptions;

describe('verifyImage', () => {
  it('accepts the same size, and a side that was rounded by one pixel', async () => {
    await expect(verified({})).resolves.toBeUndefined();
    await expect(verified({ after: { width: 201, height: 99 } })).resolves.toBeUndefined();
  });

  it('rejects another size', async () => {
    await expect(verified({ after: { width: 202 } })).rejects.toThrow('202 × 100 pixels instead of 200 × 100');
    await expect(verified({ after: { width: 100, height: 200 } })).rejects.toThrow('instead of 200 × 100');
  });

  it('rejects an empty file', async () => {
    await expect(verified({ bytes: '' })).rejects.toThrow('empty');
  });

  it('rejects an output that does not decode', async () => {
    const verify = () => Promise.reject(new Error('truncated'));
    await expect(verified({ after: { verify } })).rejects.toThrow('truncated');
  });

  it('decodes what the encoder has not decoded', async () => {
    const decoded: string[] = [];
    const verify: Picture['verify'] = async (_deps, part) => void decoded.push(part ?? 'all');
    for (const undecoded of [undefined, 'first frame', 'nothing'] as const)
      await verified({ after: { verify }, undecoded });
    expect(decoded).toEqual(['all', 'first frame']);
  });

  it('rejects a PDF in which qpdf finds faults', async () => {
    await expect(verified({ after: null, format: 'pdf', bytes: '%PDF-1.7\nnothing else' })).rejects.toThrow(
      /^The PDF output has faults\.$/,
    );
  });
});

describe('verifyImage, of an animation,', () => {
  it.each([
    ['the same frames', [100, 200], [100, 200]],
    ['equal frames that became one', [100, 100, 50], [200, 50]],
    ['times that GIF rounds to hundredths', [104, 104], [100, 100]],
    ['frames of 10 ms, which browsers show for 100 ms', [10, 10], [100, 100]],
  ])('accepts %s', async (_what, before, after) => {
    await expect(verified({ before: { delays: before }, after: { delays: after } })).resolves.toBeUndefined();
  });

  it.each([
    ['a lost frame', [100, 200], [100]],
    ['doubled times', [100, 200], [200, 400]],
    ['no frames', [1000, 1000], []],
  ])('rejects %s', async (_what, before, after) => {
    await expect(verified({ before: { delays: before }, after: { delays: after } })).rejects.toThrow('lasts');
  });

  it('accepts one frame when all frames of the input look the same', async () => {
    const before = { delays: [100, 200], isStill: true };
    await expect(verified({ before, after: { delays: [100] } })).resolves.toBeUndefined();
  });
});

describe('verifyImage, with the option resize,', () => {
  it('expects the requested size of a compressed image', async () => {
    await expect(verified({ options: HALVED, after: { width: 100, height: 50 } })).resolves.toBeUndefined();
    await expect(verified({ options: HALVED })).rejects.toThrow('instead of 100 × 50');
  });

  it('accepts the size of the input for an output in its format, as an animated PNG is not scaled', async () => {
    await expect(verified({ options: HALVED, format: 'png' })).resolves.toBeUndefined();
  });

  it.each(['convert', 'strip_metadata'] as const)('expects the size of the input after %s', async (operation) => {
    await expect(verified({ options: HALVED, operation })).resolves.toBeUndefined();
  });
});
