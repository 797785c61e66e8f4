import type { Format } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import { has } from '#worker-image/engine/identify/signatures.ts';
import type { SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

/** A stream of the container's root. */
interface Stream {
  readonly sector: number;
  readonly bytes: number;
}

const MAGIC = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
const NONE = 0xffff_fffa;
const ENTRY_BYTES = 128;
const ROOT = 'Root Entry';
const MAX_SECTORS = 4096;

/** Shorter streams lie in sectors of 64 bytes inside of the root's own stream. */
const SHORT_STREAM = 4096;
const SHORT_SECTOR = 64;

interface StreamRow {
  readonly name: string;
  readonly format: Format;
  /** The stream that tells of a password, and how it does. */
  readonly marked: string;
  readonly isLocked: (head: Buffer) => boolean;
}

const STREAMS: readonly StreamRow[] = [
  // [MS-DOC] 2.5.2: the bit fEncrypted.
  { name: 'WordDocument', format: 'doc', marked: 'WordDocument', isLocked: (head) => ((head[11] ?? 0) & 1) === 1 },
  // Workbooks are often under a password that every program knows: see `isLockedWorkbook`.
  { name: 'Workbook', format: 'xls', marked: 'Workbook', isLocked: () => false },
  { name: 'Book', format: 'xls', marked: 'Book', isLocked: () => false },
  // [MS-PPT] 2.3.2: headerToken.
  {
    name: 'PowerPoint Document',
    format: 'ppt',
    marked: 'Current User',
    isLocked: (head) => head.length >= 16 && head.readUInt32LE(12) === 0xf3d1_c4df,
  },
];

/**
 * Documents of Office 97 to 2003 by the streams in their root; embedded documents lie deeper and do not
 * count. null when it is no OLE2 file. Source: [MS-CFB].
 * @throws MediaError processing_failed for a document under a password.
 */
export async function formatOfOle2(file: SniffedFile): Promise<Format | null> {
  if (!has(file.head, MAGIC) || file.head.length < 512) return null;
  const streams = rootStreams(await directoryBytes(file));
  if (streamOf(streams, 'EncryptedPackage') !== undefined) throw passwordNeeded();
  const found = STREAMS.find(({ name }) => streamOf(streams, name) !== undefined);
  if (found === undefined) throw unsupported('an OLE2 file that is no Word, Excel or PowerPoint document');
  if (found.isLocked(await headOf(file, streams, found.marked))) throw passwordNeeded();
  return found.format;
}

/** Whether a workbook that could not be opened is under a password. [MS-XLS] 2.4.117, FilePass. */
export async function isLockedWorkbook(file: SniffedFile): Promise<boolean> {
  if (!has(file.head, MAGIC) || file.head.length < 512) return hasFilePass(file.head);
  const streams = rootStreams(await directoryBytes(file));
  const name = streamOf(streams, 'Workbook') === undefined ? 'Book' : 'Workbook';
  return hasFilePass(await headOf(file, streams, name));
}

export function passwordNeeded(): MediaError {
  return new MediaError(
    'processing_failed',
    'The document is protected by a password. Save it without one and send it again.',
  );
}

/** The record FilePass stands behind the first one, or behind a wish that the file be opened for reading. */
function hasFilePass(head: Buffer): boolean {
  const [WRITE_PROTECT, FILE_PASS] = [0x86, 0x2f];
  for (let at = 0; at + 4 <= head.length; at += 4 + head.readUInt16LE(at + 2)) {
    const type = head.readUInt16LE(at);
    if (type === FILE_PASS) return true;
    if (at > 0 && type !== WRITE_PROTECT) return false;
  }
  return false;
}

/** The first bytes of a stream, at most one sector; empty when there is none of the name. */
async function headOf(file: SniffedFile, streams: ReadonlyMap<string, Stream>, name: string): Promise<Buffer> {
  const stream = streamOf(streams, name);
  const root = streamOf(streams, ROOT);
  if (stream === undefined) return Buffer.alloc(0);
  if (stream.bytes >= SHORT_STREAM) return readSector(file, stream.sector);
  if (root === undefined) return Buffer.alloc(0);
  const place = stream.sector * SHORT_SECTOR;
  let sector = root.sector;
  for (let skipped = Math.floor(place / sectorBytes(file)); skipped > 0 && sector < NONE; skipped -= 1)
    sector = await nextSector(file, sector);
  const start = place % sectorBytes(file);
  return sector < NONE
    ? (await readSector(file, sector)).subarray(start, start + Math.min(stream.bytes, SHORT_SECTOR))
    : Buffer.alloc(0);
}

/** The directory is a chain of sectors. */
async function directoryBytes(file: SniffedFile): Promise<Buffer> {
  const parts: Buffer[] = [];
  let sector = file.head.readUInt32LE(48);
  while (sector < NONE && parts.length < MAX_SECTORS) {
    const part = await readSector(file, sector);
    if (part.length < ENTRY_BYTES) break;
    parts.push(part);
    sector = await nextSector(file, sector);
  }
  return Buffer.concat(parts);
}

function sectorBytes({ head }: SniffedFile): number {
  return head.readUInt16LE(30) === 12 ? 4096 : 512;
}

function readSector(file: SniffedFile, sector: number): Promise<Buffer> {
  return file.read((sector + 1) * sectorBytes(file), sectorBytes(file));
}

async function nextSector(file: SniffedFile, sector: number): Promise<number> {
  const perSector = sectorBytes(file) / 4;
  if (sector * sectorBytes(file) > file.size) return NONE;
  const place = await tableSector(file, Math.floor(sector / perSector));
  if (place >= NONE) return NONE;
  const table = await readSector(file, place);
  const at = (sector % perSector) * 4;
  return at + 4 <= table.length ? table.readUInt32LE(at) : NONE;
}

const LISTED_IN_HEADER = 109;

/** The header lists the first sectors of the allocation table, a chain of sectors the others: each ends with the next. */
async function tableSector(file: SniffedFile, index: number): Promise<number> {
  if (index < LISTED_IN_HEADER) return file.head.readUInt32LE(76 + index * 4);
  const perSector = sectorBytes(file) / 4 - 1;
  let list = file.head.readUInt32LE(68);
  for (let skipped = index - LISTED_IN_HEADER; list < NONE; skipped -= perSector) {
    const sector = await readSector(file, list);
    const at = Math.min(skipped, perSector) * 4;
    if (at + 4 > sector.length) return NONE;
    list = sector.readUInt32LE(at);
    if (skipped < perSector) return list;
  }
  return NONE;
}

/** Names count whatever their case is. [MS-CFB] 2.6.4. */
function streamOf(streams: ReadonlyMap<string, Stream>, name: string): Stream | undefined {
  return streams.get(name.toUpperCase());
}

/** The root and its direct children, which form a binary tree, by name in upper case. */
function rootStreams(directory: Buffer): Map<string, Stream> {
  const streams = new Map<string, Stream>();
  const seen = new Set<number>();
  const due = directory.length >= ENTRY_BYTES ? [0, directory.readUInt32LE(76)] : [];
  while (due.length > 0) {
    const index = due.pop() ?? NONE;
    const at = index * ENTRY_BYTES;
    if (index >= NONE || at + ENTRY_BYTES > directory.length || seen.has(index)) continue;
    seen.add(index);
    const nameBytes = Math.min(64, Math.max(2, directory.readUInt16LE(at + 64)));
    const name = index === 0 ? ROOT : directory.toString('utf16le', at, at + nameBytes - 2);
    streams.set(name.toUpperCase(), {
      sector: directory.readUInt32LE(at + 116),
      bytes: directory.readUInt32LE(at + 120),
    });
    due.push(directory.readUInt32LE(at + 68), directory.readUInt32LE(at + 72));
  }
  return streams;
}
