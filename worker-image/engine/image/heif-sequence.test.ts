import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { Operation } from '#crds/formats.ts';
import type { SentOptions } from '#crds/options/options.ts';
import { engineDeps, freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { photo } from '#test/fixtures/make-image-fixtures.ts';
import type { Produced, Work } from '#worker-image/engine/handler.ts';
import { layTiles, writeAvifGrid } from '#worker-image/engine/image/avif-grid.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';

const FRAMES = 24;

/** The picture of an AVIF film, and what its film says of itself. */
async function film(operation: Operation, options: SentOptions): Promise<Work> {
  const picture = await photo().avif({ quality: 60, effort: 0 }).toBuffer();
  picture.write('avis', 8, 'latin1');
  picture.write('avismsf1', 16, 'latin1');
  const sizes = box('stsz', Buffer.alloc(8), count(FRAMES), Buffer.alloc(FRAMES * 4));
  const track = ['stbl', 'minf', 'mdia', 'trak', 'moov'].reduce((inner, type) => box(type, inner), sizes);
  const path = join(await freshDirectory(), 'input.avif');
  await writeFile(path, Buffer.concat([picture, track]));
  return workOn({ path, format: 'avif', operation, options });
}

function box(type: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([count(8 + body.length), Buffer.from(type, 'latin1'), body]);
}

function count(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

async function made(work: Work): Promise<Produced> {
  const produced = await runHandler(imageHandler, work);
  const facts = await imageHandler.inspect(engineDeps(), work);
  await imageHandler.verify(engineDeps(), work, facts, produced);
  return produced;
}

describe('an AVIF film', () => {
  it('is converted by its picture, with a warning that names its frames', async () => {
    const { path, warnings } = await made(await film('convert', { convert: { to: 'png' } }));
    const { width, height } = await photo().metadata();
    expect(await sharp(path).metadata()).toMatchObject({ format: 'png', width, height });
    expect(warnings).toEqual([expect.stringContaining(`its ${FRAMES} frames`)]);
  });

  it('keeps its frames when only its metadata are removed', async () => {
    const work = await film('strip_metadata', {});
    const produced = await made(work);
    expect(produced.warnings).toEqual([]);
    expect(
      (await imageHandler.inspect(engineDeps(), { ...work, input: { ...work.input, path: produced.path } })).frames,
    ).toBe(FRAMES);
  });
});

describe('an AVIF of many tiles', () => {
  it('is opened as one of few', async () => {
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
    const { path: written } = await made(await workOn({ path, format: 'avif', operation: 'convert', options }));
    expect(await sharp(written).metadata()).toMatchObject({ width: size, height: size });
  });
});
