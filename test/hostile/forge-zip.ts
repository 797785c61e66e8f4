/** Writer of ZIP archives with entries that may contradict their data. */
import { crc32 } from 'node:zlib';
import { deflateRuns, type DataRun } from '#test/hostile/forge-deflate.ts';

export interface ZipPart {
  readonly name: string;
  /** Data, or the runs that it consists of. */
  readonly data: Buffer | string | readonly DataRun[];
  /** Declared uncompressed length, in bytes; by default the true one. */
  readonly claims?: number;
  /** Unix mode in the central directory; 0o120777 is a symbolic link. */
  readonly mode?: number;
  /** Index of another entry whose data this entry refers to, without data of its own. */
  readonly sameAs?: number;
}

/** Returns an archive of the entries in the given order. */
export function zip(parts: readonly ZipPart[]): Buffer {
  const local: Buffer[] = [];
  const directory: Buffer[] = [];
  const entries: { at: number; fields: Buffer }[] = [];
  let at = 0;
  for (const part of parts) {
    const name = Buffer.from(part.name);
    const shared = part.sameAs === undefined ? undefined : entries[part.sameAs];
    const entry = shared ?? { at, fields: Buffer.alloc(0) };
    if (shared === undefined) {
      const { packed, fields } = pack(part);
      entry.fields = fields;
      const head = Buffer.alloc(30);
      head.writeUInt32LE(0x0403_4b50, 0);
      entry.fields.copy(head, 4);
      head.writeUInt16LE(name.length, 26);
      local.push(head, name, packed);
      at += head.length + name.length + packed.length;
    }
    entries.push(entry);
    const record = Buffer.alloc(46);
    record.writeUInt32LE(0x0201_4b50, 0);
    record.writeUInt16LE(0x031e, 4);
    entry.fields.copy(record, 6);
    record.writeUInt16LE(name.length, 28);
    record.writeUInt32LE(((part.mode ?? 0o100644) << 16) >>> 0, 38);
    record.writeUInt32LE(entry.at, 42);
    directory.push(record, name);
  }
  const size = directory.reduce((sum, piece) => sum + piece.length, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x0605_4b50, 0);
  end.writeUInt16LE(parts.length & 0xffff, 8);
  end.writeUInt16LE(parts.length & 0xffff, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...local, ...directory, end]);
}

/** Returns the compressed data of an entry, and the fields that local and central headers share, from version to sizes. */
function pack({ name, data, claims }: ZipPart): { packed: Buffer; fields: Buffer } {
  const runs = typeof data === 'string' || Buffer.isBuffer(data) ? [{ data: Buffer.from(data), times: 1 }] : data;
  const length = runs.reduce((sum, run) => sum + run.data.length * run.times, 0);
  // 20,000 empty entries would take seconds to compress.
  const isStored = name === 'mimetype' || length === 0;
  const packed = isStored ? Buffer.concat(runs.map((run) => run.data)) : deflateRuns(runs);
  const fields = Buffer.alloc(22);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(isStored ? 0 : 8, 4);
  fields.writeUInt32LE(0x5a21, 8);
  fields.writeUInt32LE(checksumOf(runs), 10);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(claims ?? length, 18);
  return { packed, fields };
}

function checksumOf(runs: readonly DataRun[]): number {
  let checksum = 0;
  for (const run of runs) for (let i = 0; i < run.times; i += 1) checksum = crc32(run.data, checksum);
  return checksum;
}
