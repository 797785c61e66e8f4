import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { Operation } from '#crds/catalogue/formats.ts';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import { engineDeps, freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { photo } from '#test/fixtures/make-image-fixtures.ts';
import type { Produced, Work } from '#worker-image/engine/handler.ts';
import { layTiles, writeAvifGrid } from '#worker-image/engine/image/encode/avif-grid.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';

const FRAMES = 24;
const DATE = 'DATE';

/** Returns work on an AVIF sequence with a still image. */
async function sequence(operation: Operation, options: SentOptions): Promise<Work> {
  const picture = await photo().avif({ quality: 60, effort: 0 }).toBuffer();
  picture.write('avis', 8, 'latin1');
  picture.write('avismsf1', 16, 'latin1');
  const sizes = box('stsz', Buffer.alloc(8), uint32(FRAMES), Buffer.alloc(FRAMES * 4));
  const media = box('mdia', dated('mdhd', 1), box('minf', box('stbl', sizes)));
  const track = box('moov', dated('mvhd', 0), box('trak', dated('tkhd', 0), media));
  const path = join(await freshDirectory(), 'input.avif');
  await writeFile(path, Buffer.concat([picture, track]));
  return workOn({ path, format: 'avif', operation, options });
}

function box(type: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([uint32(8 + body.length), Buffer.from(type, 'latin1'), body]);
}

/** Returns a header of a sequence: times of creation and last change, then the rate. */
function dated(type: string, version: 0 | 1): Buffer {
  const times = Buffer.from(DATE.repeat(version === 1 ? 4 : 2));
  return box(type, Buffer.from([version, 0, 0, 0]), times, Buffer.from('RATE'));
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

async function processed(work: Work): Promise<Produced> {
  const produced = await runHandler(imageHandler, work);
  const facts = await imageHandler.inspect(engineDeps(), work);
  await imageHandler.verify(engineDeps(), work, facts, produced);
  return produced;
}

describe('an AVIF sequence', () => {
  it('is converted to its still image, with a warning that names its frames', async () => {
    const { path, warnings } = await processed(await sequence('convert', { convert: { to: 'png' } }));
    const { width, height } = await photo().metadata();
    expect(await sharp(path).metadata()).toMatchObject({ format: 'png', width, height });
    expect(warnings).toEqual([expect.stringContaining(`all ${FRAMES} frames`)]);
  });

  it('keeps its frames when its metadata is removed', async () => {
    const work = await sequence('strip_metadata', {});
    const produced = await processed(work);
    expect(produced.warnings).toEqual([]);
    expect(
      (await imageHandler.inspect(engineDeps(), { ...work, input: { ...work.input, path: produced.path } })).frames,
    ).toBe(FRAMES);
  });

  it('loses its dates with the other metadata', async () => {
    const work = await sequence('strip_metadata', {});
    const [before, after] = [await readFile(work.input.path), await readFile((await processed(work)).path)];
    const times = (file: Buffer, text: string): number => file.toString('latin1').split(text).length - 1;
    expect([times(before, DATE), times(before, 'RATE')]).toEqual([8, 3]);
    expect([times(after, DATE), times(after, 'RATE')]).toEqual([0, 3]);
  });
});

describe('an AVIF of many tiles', () => {
  it('is opened at its full size', async () => {
    const [side, tile] = [17, 64];
    const one = await photo(tile, tile).avif({ quality: 60, effort: 0 }).toBuffer();
    const size = side * tile;
    const layout = { ...layTiles(size, size), columns: side, rows: side, tileWidth: tile, tileHeight: tile };
    const path = join(await freshDirectory(), 'tiles.avif');
    await writeFile(
      path,
      writeAvifGrid(
        layout,
        Array.from({ length: side ** 2 }, () => one),
        one,
      ),
    );
    const options = { convert: { to: 'png' } } as const;
    const { path: written } = await processed(await workOn({ path, format: 'avif', operation: 'convert', options }));
    expect(await sharp(written).metadata()).toMatchObject({ width: size, height: size });
  });
});
