/** Streams of OLE2 compound files, which Office 97 to 2003 wrote. Source: [MS-CFB]. */
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';

interface Ole2Stream {
  readonly sector: number;
  readonly bytes: number;
}

/** The streams in the root of a file. Names are case-insensitive; embedded documents are deeper and not listed. */
export interface Ole2Root {
  readonly has: (name: string) => boolean;
  /** Returns the first bytes of a stream, at most one sector; none when the stream is missing. */
  readonly readHead: (name: string) => Promise<Buffer>;
  /** Returns the first bytes of a stream, at least that many if it has them. Of a short stream, at most one sector. */
  readonly readStart: (name: string, bytes: number) => Promise<Buffer>;
}

const MAGIC = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
const HEADER_BYTES = 512;
/** Sector numbers from here on mark the end of a chain, and unused sectors. */
const NO_SECTOR = 0xffff_fffa;
const ENTRY_BYTES = 128;
const ROOT = 'Root Entry';
/** Maximum number of sectors of a directory that are read. */
const MAX_DIRECTORY_SECTORS = 4096;

/** Streams below this size are stored in sectors of 64 bytes inside the root's own stream. */
const SHORT_STREAM_BYTES = 4096;
const SHORT_SECTOR_BYTES = 64;

/** Returns the streams in the root; null when the file is not OLE2. */
export async function readOle2Root(file: FileReader): Promise<Ole2Root | null> {
  if (!hasBytes(file.head, MAGIC) || file.head.length < HEADER_BYTES) return null;
  const streams = rootStreams(await readDirectory(file));
  return {
    has: (name) => streams.has(name.toUpperCase()),
    readHead: (name) => readHead(file, streams.get(name.toUpperCase()), streams.get(ROOT.toUpperCase())),
    readStart: async (name, bytes) => {
      const stream = streams.get(name.toUpperCase());
      const isLong = stream !== undefined && stream.bytes >= SHORT_STREAM_BYTES;
      return isLong ? readChain(file, stream.sector, bytes) : readHead(file, stream, streams.get(ROOT.toUpperCase()));
    },
  };
}

async function readHead(
  file: FileReader,
  stream: Ole2Stream | undefined,
  root: Ole2Stream | undefined,
): Promise<Buffer> {
  if (stream === undefined) return Buffer.alloc(0);
  if (stream.bytes >= SHORT_STREAM_BYTES) return readSector(file, stream.sector);
  if (root === undefined) return Buffer.alloc(0);
  const offset = stream.sector * SHORT_SECTOR_BYTES;
  // An offset inside the file bounds the steps below by the number of its sectors, even if the chain is a loop.
  if (offset >= file.size) return Buffer.alloc(0);
  let sector = root.sector;
  for (let skipped = Math.floor(offset / sectorBytes(file)); skipped > 0 && sector < NO_SECTOR; skipped -= 1)
    sector = await nextSector(file, sector);
  const start = offset % sectorBytes(file);
  return sector < NO_SECTOR
    ? (await readSector(file, sector)).subarray(start, start + Math.min(stream.bytes, SHORT_SECTOR_BYTES))
    : Buffer.alloc(0);
}

/** Returns the bytes of the directory. */
function readDirectory(file: FileReader): Promise<Buffer> {
  return readChain(file, file.head.readUInt32LE(48), MAX_DIRECTORY_SECTORS * sectorBytes(file));
}

/** Returns the bytes of a chain of sectors, until there are that many. */
async function readChain(file: FileReader, first: number, bytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let sector = first;
  while (sector < NO_SECTOR && parts.length * sectorBytes(file) < bytes) {
    const part = await readSector(file, sector);
    if (part.length < ENTRY_BYTES) break;
    parts.push(part);
    sector = await nextSector(file, sector);
  }
  return Buffer.concat(parts);
}

function sectorBytes({ head }: FileReader): number {
  return head.readUInt16LE(30) === 12 ? 4096 : 512;
}

function readSector(file: FileReader, sector: number): Promise<Buffer> {
  return file.read((sector + 1) * sectorBytes(file), sectorBytes(file));
}

async function nextSector(file: FileReader, sector: number): Promise<number> {
  const perSector = sectorBytes(file) / 4;
  if (sector * sectorBytes(file) > file.size) return NO_SECTOR;
  const tableAt = await tableSector(file, Math.floor(sector / perSector));
  if (tableAt >= NO_SECTOR) return NO_SECTOR;
  const table = await readSector(file, tableAt);
  const at = (sector % perSector) * 4;
  return at + 4 <= table.length ? table.readUInt32LE(at) : NO_SECTOR;
}

/** Number of sectors of the allocation table that the header lists. */
const LISTED_IN_HEADER = 109;

/** Returns a sector of the allocation table. Sectors that the header does not list are in a linked list of sectors. */
async function tableSector(file: FileReader, index: number): Promise<number> {
  if (index < LISTED_IN_HEADER) return file.head.readUInt32LE(76 + index * 4);
  const perSector = sectorBytes(file) / 4 - 1;
  let list = file.head.readUInt32LE(68);
  for (let skipped = index - LISTED_IN_HEADER; list < NO_SECTOR; skipped -= perSector) {
    const sector = await readSector(file, list);
    const at = Math.min(skipped, perSector) * 4;
    if (at + 4 > sector.length) return NO_SECTOR;
    list = sector.readUInt32LE(at);
    if (skipped < perSector) return list;
  }
  return NO_SECTOR;
}

/** Returns the root and its direct children, which form a binary tree, by name in upper case. */
function rootStreams(directory: Buffer): Map<string, Ole2Stream> {
  const streams = new Map<string, Ole2Stream>();
  const seen = new Set<number>();
  const pending = directory.length >= ENTRY_BYTES ? [0, directory.readUInt32LE(76)] : [];
  while (pending.length > 0) {
    const index = pending.pop() ?? NO_SECTOR;
    const at = index * ENTRY_BYTES;
    if (index >= NO_SECTOR || at + ENTRY_BYTES > directory.length || seen.has(index)) continue;
    seen.add(index);
    const nameBytes = Math.min(64, Math.max(2, directory.readUInt16LE(at + 64)));
    const name = index === 0 ? ROOT : directory.toString('utf16le', at, at + nameBytes - 2);
    streams.set(name.toUpperCase(), {
      sector: directory.readUInt32LE(at + 116),
      bytes: directory.readUInt32LE(at + 120),
    });
    pending.push(directory.readUInt32LE(at + 68), directory.readUInt32LE(at + 72));
  }
  return streams;
}
