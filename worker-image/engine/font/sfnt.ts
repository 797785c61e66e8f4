/** SFNT, the container of every font: a directory of tables. Offsets and lengths in bytes, numbers big-endian. */

/** Maximum size of an unpacked font, in bytes. */
export const MAX_FONT_BYTES = 64 * 1024 ** 2;
/** Maximum number of tables, the same as in the rule that identifies fonts. The header has no room for 4,096. */
const MAX_TABLES = 1024;

export const FLAVOR = { trueType: 0x00010000, appleTrueType: 0x74727565, openType: 0x4f54544f } as const;

const HEADER_BYTES = 12;
const RECORD_BYTES = 16;
const REQUIRED = ['head', 'maxp'];

export interface SfntTable {
  readonly tag: string;
  readonly checksum: number;
  readonly offset: number;
  readonly length: number;
}

export interface Sfnt {
  readonly bytes: Buffer;
  readonly flavor: number;
  /** Tables in the order of the directory. */
  readonly tables: readonly SfntTable[];
  readonly glyphs: number;
}

/** Parses the directory. @throws Error with the reason for a damaged font. */
export function readSfnt(bytes: Buffer): Sfnt {
  if (bytes.length < HEADER_BYTES) throw new Error('the header is truncated');
  const flavor = bytes.readUInt32BE(0);
  if (!isFlavor(flavor)) throw new Error(`0x${flavor.toString(16)} is no known font signature`);
  const tables = readDirectory(bytes, bytes.readUInt16BE(4));
  for (const tag of REQUIRED) {
    if (!tables.some((table) => table.tag === tag)) throw new Error(`the font has no ${tag} table`);
  }
  return { bytes, flavor, tables, glyphs: glyphCount(bytes, tables) };
}

/** Returns whether the font has CFF outlines, which belong into .otf files; glyf outlines belong into .ttf files. */
export function hasCffOutlines({ tables }: Sfnt): boolean {
  return tables.some(({ tag }) => tag === 'CFF ' || tag === 'CFF2');
}

/** Returns whether a flavor is that of a single font. */
export function isFlavor(flavor: number): boolean {
  return flavor === FLAVOR.trueType || flavor === FLAVOR.appleTrueType || flavor === FLAVOR.openType;
}

/** Returns a font with the tables in the given order. */
export function writeSfnt(flavor: number, tables: readonly { tag: string; checksum: number; data: Buffer }[]): Buffer {
  const placed: (SfntTable & { data: Buffer })[] = [];
  let offset = HEADER_BYTES + RECORD_BYTES * tables.length;
  for (const { tag, checksum, data } of tables) {
    placed.push({ tag, checksum, data, offset, length: data.length });
    offset += alignToFour(data.length);
  }
  const bytes = Buffer.alloc(offset);
  writeHeader(bytes, flavor, tables.length);
  placed.toSorted(byTag).forEach((table, index) => writeRecord(bytes, HEADER_BYTES + RECORD_BYTES * index, table));
  for (const { data, offset: at } of placed) data.copy(bytes, at);
  return bytes;
}

/** Refuses a font with too many tables. @throws Error with the number and the limit. */
export function refuseManyTables(count: number): void {
  if (count > MAX_TABLES) throw new Error(`the font has ${count} tables; the maximum is ${MAX_TABLES}`);
}

/** Returns a length rounded up to a multiple of four, where the next table begins. */
export function alignToFour(length: number): number {
  // No bit operations: with 32 bits a forged length would become negative.
  return Math.ceil(length / 4) * 4;
}

function readDirectory(bytes: Buffer, count: number): SfntTable[] {
  refuseManyTables(count);
  const end = HEADER_BYTES + RECORD_BYTES * count;
  if (count === 0 || bytes.length < end) throw new Error(`the directory of ${count} tables is empty or truncated`);
  const tables = Array.from({ length: count }, (_, index) => readRecord(bytes, HEADER_BYTES + RECORD_BYTES * index));
  for (const { tag, offset, length } of tables) {
    if (offset < end || offset + length > bytes.length)
      throw new Error(`the table ${JSON.stringify(tag)} is outside the file`);
  }
  if (new Set(tables.map(({ tag }) => tag)).size !== count) throw new Error('a table occurs twice');
  refuseOverlap(tables);
  return tables;
}

/** Refuses overlapping tables. Two tables may share exactly the same bytes. */
function refuseOverlap(tables: readonly SfntTable[]): void {
  let before: SfntTable | null = null;
  for (const table of tables
    .filter(({ length }) => length > 0)
    .toSorted((a, b) => a.offset - b.offset || a.length - b.length)) {
    const shared = before?.offset === table.offset && before.length === table.length;
    if (before !== null && !shared && table.offset < before.offset + before.length) {
      throw new Error(`the table ${JSON.stringify(table.tag)} overlaps another table`);
    }
    before = table;
  }
}

function readRecord(bytes: Buffer, at: number): SfntTable {
  return {
    tag: bytes.toString('latin1', at, at + 4),
    checksum: bytes.readUInt32BE(at + 4),
    offset: bytes.readUInt32BE(at + 8),
    length: bytes.readUInt32BE(at + 12),
  };
}

function glyphCount(bytes: Buffer, tables: readonly SfntTable[]): number {
  const maxp = tables.find(({ tag }) => tag === 'maxp');
  if (maxp === undefined || maxp.length < 6) throw new Error('the maxp table is truncated');
  const glyphs = bytes.readUInt16BE(maxp.offset + 4);
  if (glyphs === 0) throw new Error('the font has no glyphs');
  return glyphs;
}

function writeHeader(bytes: Buffer, flavor: number, count: number): void {
  const power = 31 - Math.clz32(count);
  const range = 2 ** power * RECORD_BYTES;
  bytes.writeUInt32BE(flavor, 0);
  bytes.writeUInt16BE(count, 4);
  bytes.writeUInt16BE(range, 6);
  bytes.writeUInt16BE(power, 8);
  bytes.writeUInt16BE(count * RECORD_BYTES - range, 10);
}

function writeRecord(bytes: Buffer, at: number, { tag, checksum, offset, length }: SfntTable): void {
  bytes.write(tag, at, 4, 'latin1');
  bytes.writeUInt32BE(checksum, at + 4);
  bytes.writeUInt32BE(offset, at + 8);
  bytes.writeUInt32BE(length, at + 12);
}

function byTag(a: SfntTable, b: SfntTable): number {
  return a.tag < b.tag ? -1 : 1;
}
