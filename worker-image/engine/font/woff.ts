/**
 * WOFF: a font whose tables are compressed one by one (W3C, WOFF File Format 1.0). Tables keep their bytes and
 * order, so the checksum of the font stays valid. Metadata and private blocks are not part of the font and are
 * dropped.
 */
import { deflateSync, inflateSync } from 'node:zlib';
import {
  isFlavor,
  MAX_FONT_BYTES,
  alignToFour,
  refuseManyTables,
  writeSfnt,
  type Sfnt,
} from '#worker-image/engine/font/sfnt.ts';

const SIGNATURE = 0x774f4646;
const HEADER_BYTES = 44;
const ENTRY_BYTES = 20;
/** Sizes of the header and of a directory record of the unpacked font. */
const SFNT_HEADER_BYTES = 12;
const SFNT_RECORD_BYTES = 16;

interface WoffEntry {
  readonly tag: string;
  readonly offset: number;
  readonly packedLength: number;
  readonly length: number;
  readonly checksum: number;
}

export function writeWoff(font: Sfnt): Buffer {
  const inPlaceOrder = font.tables.toSorted((a, b) => a.offset - b.offset);
  let offset = HEADER_BYTES + ENTRY_BYTES * font.tables.length;
  const packed = inPlaceOrder.map((table) => {
    const plain = font.bytes.subarray(table.offset, table.offset + table.length);
    const deflated = deflateSync(plain, { level: 9 });
    const data = deflated.length < plain.length ? deflated : plain;
    const entry = { table, data, offset };
    offset += alignToFour(data.length);
    return entry;
  });
  const bytes = Buffer.alloc(offset);
  writeHeader(bytes, font);
  packed
    .toSorted((a, b) => (a.table.tag < b.table.tag ? -1 : 1))
    .forEach(({ table, data, offset: at }, index) => {
      const record = HEADER_BYTES + ENTRY_BYTES * index;
      bytes.write(table.tag, record, 4, 'latin1');
      [at, data.length, table.length, table.checksum].forEach((value, field) =>
        bytes.writeUInt32BE(value, record + 4 + field * 4),
      );
    });
  for (const { data, offset: at } of packed) data.copy(bytes, at);
  return bytes;
}

/** Decompresses a WOFF font. @throws Error with the reason for a damaged font. */
export function readWoff(bytes: Buffer): Buffer {
  if (bytes.length < HEADER_BYTES || bytes.readUInt32BE(0) !== SIGNATURE) throw new Error('the file is no WOFF font');
  const flavor = bytes.readUInt32BE(4);
  if (!isFlavor(flavor)) throw new Error('the WOFF file does not contain a single font');
  const entries = readDirectory(bytes, bytes.readUInt16BE(12));
  const tables = entries
    .toSorted((a, b) => a.offset - b.offset)
    .map((entry) => ({ tag: entry.tag, checksum: entry.checksum, data: unpack(bytes, entry) }));
  return writeSfnt(flavor, tables);
}

function readDirectory(bytes: Buffer, count: number): WoffEntry[] {
  refuseManyTables(count);
  const end = HEADER_BYTES + ENTRY_BYTES * count;
  if (count === 0 || bytes.length < end) throw new Error(`the directory of ${count} tables is empty or truncated`);
  const entries = Array.from({ length: count }, (_, index) => readEntry(bytes, HEADER_BYTES + ENTRY_BYTES * index));
  const total = entries.reduce((sum, { length }) => sum + alignToFour(length), end);
  if (total > MAX_FONT_BYTES)
    throw new Error(`the font decompresses to ${total} bytes; the maximum is ${MAX_FONT_BYTES}`);
  return entries;
}

function readEntry(bytes: Buffer, at: number): WoffEntry {
  const entry = {
    tag: bytes.toString('latin1', at, at + 4),
    offset: bytes.readUInt32BE(at + 4),
    packedLength: bytes.readUInt32BE(at + 8),
    length: bytes.readUInt32BE(at + 12),
    checksum: bytes.readUInt32BE(at + 16),
  };
  const { offset, packedLength, length } = entry;
  if (packedLength > length || offset + packedLength > bytes.length)
    throw new Error(`the table ${JSON.stringify(entry.tag)} is outside the file`);
  return entry;
}

function unpack(bytes: Buffer, { tag, offset, packedLength, length }: WoffEntry): Buffer {
  const data = bytes.subarray(offset, offset + packedLength);
  if (packedLength === length) return data;
  let plain: Buffer;
  try {
    plain = inflateSync(data, { maxOutputLength: length });
  } catch (error) {
    throw new Error(`the table ${JSON.stringify(tag)} is damaged`, { cause: error });
  }
  if (plain.length !== length)
    throw new Error(`the table ${JSON.stringify(tag)} has ${plain.length} of ${length} bytes`);
  return plain;
}

function writeHeader(bytes: Buffer, font: Sfnt): void {
  const count = font.tables.length;
  const unpacked = font.tables.reduce(
    (sum, { length }) => sum + alignToFour(length),
    SFNT_HEADER_BYTES + SFNT_RECORD_BYTES * count,
  );
  bytes.writeUInt32BE(SIGNATURE, 0);
  bytes.writeUInt32BE(font.flavor, 4);
  bytes.writeUInt32BE(bytes.length, 8);
  bytes.writeUInt16BE(count, 12);
  bytes.writeUInt32BE(unpacked, 16);
  // Version of the font: a required field, which most writers set to 1.0.
  bytes.writeUInt16BE(1, 20);
}
