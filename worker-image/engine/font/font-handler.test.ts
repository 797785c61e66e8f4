import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { engineDeps, freshDirectory, runHandler, workOn, type Fixture } from '#test/fixtures/engine-work.ts';
import { makeFontFixtures } from '#test/fixtures/make-font-fixtures.ts';
import type { Produced } from '#worker-image/engine/handler.ts';
import { fontHandler } from '#worker-image/engine/font/font-handler.ts';
import { hasCffOutlines, readSfnt } from '#worker-image/engine/font/sfnt.ts';
import { readWoff, writeWoff } from '#worker-image/engine/font/woff.ts';

const FORMATS = ['ttf', 'otf', 'woff', 'woff2'] as const;

let directory = '';
let fixtures: Map<Format, Fixture>;

beforeAll(async () => {
  directory = await freshDirectory();
  fixtures = new Map((await makeFontFixtures(directory)).map((fixture) => [fixture.format, fixture]));
});

function fixture(format: Format): Fixture {
  const found = fixtures.get(format);
  if (found === undefined) throw new Error(`no fixture for ${format}`);
  return found;
}

async function convert(source: Pick<Fixture, 'path' | 'format'>, to: string): Promise<Produced> {
  return runHandler(fontHandler, await workOn({ ...source, operation: 'convert', options: { convert: { to } } }));
}

/** Writes a modified copy of the fixture. */
async function changed(format: Format, name: string, change: (bytes: Buffer) => Buffer): Promise<Fixture> {
  const path = join(directory, `${name.replaceAll(' ', '-')}.${format}`);
  await writeFile(path, change(Buffer.from(await readFile(fixture(format).path))));
  return { name, path, format };
}

describe('the font handler', () => {
  it.each(FORMATS.flatMap((from) => FORMATS.map((to) => [from, to] as const)))(
    'converts %s to %s',
    async (from, to) => {
      expect((await convert(fixture(from), to)).format).toBe(to);
    },
  );

  // Promise, Direct endpoints: Fonts change their container only; table cells are text
  it('converts to WOFF and back without changing a byte', async () => {
    for (const format of ['ttf', 'otf'] as const) {
      const plain = await readFile(fixture(format).path);
      expect(readWoff(writeWoff(readSfnt(plain))).equals(plain)).toBe(true);
    }
  });

  it('writes smaller files in the compressed formats', async () => {
    const sizes = await Promise.all(
      ['ttf', 'woff', 'woff2'].map(async (to) => (await readFile((await convert(fixture('ttf'), to)).path)).length),
    );
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
  });

  // Promise, Direct endpoints: Fonts change their container only; table cells are text
  it('keeps the kind of outlines and warns when the extension contradicts it', async () => {
    const ttf = await convert(fixture('otf'), 'ttf');
    expect(hasCffOutlines(readSfnt(await readFile(ttf.path)))).toBe(true);
    expect(ttf.warnings).toHaveLength(1);
    expect((await convert(fixture('ttf'), 'otf')).warnings).toHaveLength(1);
    expect((await convert(fixture('otf'), 'woff')).warnings).toEqual([]);
  });
});

describe('the font handler, with a damaged font,', () => {
  // Promise, Bad input, case by case: Damaged files
  it.each(FORMATS)('refuses a truncated %s', async (format) => {
    const source = await changed(format, 'truncated', (bytes) => bytes.subarray(0, bytes.length / 2));
    await expect(convert(source, format === 'woff' ? 'ttf' : 'woff')).rejects.toMatchObject({
      code: 'processing_failed',
    });
  });

  it.each(FORMATS)('refuses bytes that are no font, named %s', async (format) => {
    const source = await changed(format, 'nonsense', () => Buffer.from('nothing of the kind'.repeat(20)));
    await expect(convert(source, 'ttf')).rejects.toMatchObject({ code: 'processing_failed' });
  });

  it.each([
    ['woff', 'a table of 4 GB', (bytes: Buffer) => (bytes.writeUInt32BE(0xffffffff, 44 + 12), bytes)],
    [
      'woff',
      'a stream that decompresses to more than it declares',
      (bytes: Buffer) => (bytes.writeUInt32BE(bytes.readUInt32BE(44 + 12) - 1, 44 + 12), bytes),
    ],
    ['woff2', 'a font of 4 GB', (bytes: Buffer) => (bytes.writeUInt32BE(0xffffffff, 16), bytes)],
    ['ttf', 'more tables than there are', (bytes: Buffer) => (bytes.writeUInt16BE(0xffff, 4), bytes)],
    ['ttf', 'a table outside of the file', (bytes: Buffer) => (bytes.writeUInt32BE(0xfffffff0, 12 + 8), bytes)],
    [
      'ttf',
      'a table over another one',
      (bytes: Buffer) => (bytes.writeUInt32BE(bytes.readUInt32BE(12 + 16 + 8) + 4, 12 + 8), bytes),
    ],
  ] as const)('refuses a %s with %s', async (format, name, change) => {
    await expect(convert(await changed(format, name, change), 'otf')).rejects.toMatchObject({
      code: 'processing_failed',
    });
  });

  it('rejects a result with fewer glyphs', async () => {
    const work = await workOn({ ...fixture('ttf'), operation: 'convert', options: { convert: { to: 'ttf' } } });
    const other = {
      path: fixture('otf').path,
      format: 'otf',
      facts: await fontHandler.inspect(engineDeps(), work),
      warnings: [],
    } as const;
    await expect(fontHandler.verify(engineDeps(), work, other.facts, other)).rejects.toThrow('glyphs');
  });
});
