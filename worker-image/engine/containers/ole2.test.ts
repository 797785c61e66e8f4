import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import { readOle2Root } from '#worker-image/engine/containers/ole2.ts';

const SECTOR = 512;
const END_OF_CHAIN = 0xffff_fffe;

/** Returns a file of three sectors: allocation table, directory, stream. The children are chained as left siblings. */
function ole2(names: readonly string[], { next = END_OF_CHAIN, left = true } = {}): Buffer {
  const bytes = Buffer.alloc(4 * SECTOR);
  bytes.write('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1');
  bytes.writeUInt16LE(9, 30);
  bytes.writeUInt32LE(1, 48);
  bytes.writeUInt32LE(END_OF_CHAIN, 68);
  bytes.writeUInt32LE(0, 76);
  bytes.writeUInt32LE(next, SECTOR + 4);
  for (const [index, name] of ['Root Entry', ...names].entries()) {
    const at = 2 * SECTOR + index * 128;
    bytes.write(name, at, 'utf16le');
    bytes.writeUInt16LE(2 * name.length + 2, at + 64);
    bytes.writeUInt32LE(index > 0 && index < names.length && left ? index + 1 : 0xffff_ffff, at + 68);
    bytes.writeUInt32LE(index > 0 && !left ? index : 0xffff_ffff, at + 72);
    bytes.writeUInt32LE(index === 0 ? 1 : 0xffff_ffff, at + 76);
    bytes.writeUInt32LE(2, at + 116);
    bytes.writeUInt32LE(5000, at + 120);
  }
  bytes.write('content', 3 * SECTOR);
  return bytes;
}

describe('readOle2Root', () => {
  it('returns the streams of the root, whatever the case of their names', async () => {
    const root = await readOle2Root(fileReaderOf(ole2(['WordDocument', '1Table'])));
    expect([root?.has('worddocument'), root?.has('1TABLE'), root?.has('Workbook')]).toEqual([true, true, false]);
  });

  it('reads the first sector of a stream, and nothing of a missing one', async () => {
    const root = await readOle2Root(fileReaderOf(ole2(['Workbook'])));
    expect((await root?.readHead('Workbook'))?.toString('latin1', 0, 7)).toBe('content');
    expect(await root?.readHead('Book')).toHaveLength(0);
  });

  it('ends with a directory whose chain of sectors is a loop', async () => {
    expect((await readOle2Root(fileReaderOf(ole2(['Book'], { next: 1 }))))?.has('Book')).toBe(true);
  });

  it('ends with an entry that is its own sibling', async () => {
    expect((await readOle2Root(fileReaderOf(ole2(['Book'], { left: false }))))?.has('Book')).toBe(true);
  });

  it('reads nothing of a short stream behind the end of the file, even if the chain of sectors is a loop', async () => {
    const bytes = ole2(['Workbook']);
    bytes.writeUInt32LE(2, SECTOR + 8);
    bytes.writeUInt32LE(8_000_000, 2 * SECTOR + 128 + 116);
    bytes.writeUInt32LE(100, 2 * SECTOR + 128 + 120);
    const file = fileReaderOf(bytes);
    let reads = 0;
    const read: typeof file.read = (offset, length) => {
      reads += 1;
      if (reads > 20) throw new Error('more reads than the file has sectors');
      return file.read(offset, length);
    };
    const root = await readOle2Root({ ...file, read });
    expect(await root?.readHead('Workbook')).toHaveLength(0);
  });

  it('returns null for other files and for one shorter than its header', async () => {
    expect(await readOle2Root(fileReaderOf(Buffer.alloc(1000)))).toBeNull();
    expect(await readOle2Root(fileReaderOf(ole2([]).subarray(0, 511)))).toBeNull();
  });
});
