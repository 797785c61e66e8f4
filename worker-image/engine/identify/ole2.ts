import type { Format } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import { has } from '#worker-image/engine/identify/signatures.ts';
import type { SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

const MAGIC = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
const NONE = 0xffff_fffa;
const ENTRY_BYTES = 128;
const MAX_SECTORS = 4096;

const STREAMS: readonly (readonly [name: string, format: Format])[] = [
  ['WordDocument', 'doc'],
  ['Workbook', 'xls'],
  ['Book', 'xls'],
  ['PowerPoint Document', 'ppt'],
];

/**
 * Documents of Office 97 to 2003 by the streams in their root; embedded documents lie deeper and do not
 * count. null when it is no OLE2 file. Source: [MS-CFB].
 * @throws MediaError processing_failed for a newer document under a password.
 */
export async function formatOfOle2(file: SniffedFile): Promise<Format | null> {
  if (!has(file.head, MAGIC) || file.head.length < 512) return null;
  const names = rootNames(await directoryBytes(file));
  if (names.has('EncryptedPackage')) {
    throw new MediaError(
      'processing_failed',
      'The document is protected by a password. Save it without one and send it again.',
    );
  }
  const found = STREAMS.find(([name]) => names.has(name));
  if (found === undefined) throw unsupported('an OLE2 file that is no Word, Excel or PowerPoint document');
  return found[1];
}

/** The directory is a chain of sectors. */
async function directoryBytes(file: SniffedFile): Promise<Buffer> {
  const sectorBytes = file.head.readUInt16LE(30) === 12 ? 4096 : 512;
  const read = (sector: number): Promise<Buffer> => file.read((sector + 1) * sectorBytes, sectorBytes);
  const parts: Buffer[] = [];
  let sector = file.head.readUInt32LE(48);
  while (sector < NONE && parts.length < MAX_SECTORS) {
    const part = await read(sector);
    if (part.length < ENTRY_BYTES) break;
    parts.push(part);
    sector = await nextSector(file, sector, { sectorBytes, read });
  }
  return Buffer.concat(parts);
}

/** The allocation table's first 109 sectors are listed in the header: enough for 6.8 MB of 512-byte sectors before the directory's end. */
async function nextSector(
  file: SniffedFile,
  sector: number,
  { sectorBytes, read }: { sectorBytes: number; read: (sector: number) => Promise<Buffer> },
): Promise<number> {
  const perSector = sectorBytes / 4;
  const index = Math.floor(sector / perSector);
  if (index >= 109) return NONE;
  const table = await read(file.head.readUInt32LE(76 + index * 4));
  const at = (sector % perSector) * 4;
  return at + 4 <= table.length ? table.readUInt32LE(at) : NONE;
}

/** Names of the root's direct children, which form a binary tree. */
function rootNames(directory: Buffer): Set<string> {
  const names = new Set<string>();
  const seen = new Set<number>();
  const due = directory.length >= ENTRY_BYTES ? [directory.readUInt32LE(76)] : [];
  while (due.length > 0) {
    const index = due.pop() ?? NONE;
    const at = index * ENTRY_BYTES;
    if (index >= NONE || at + ENTRY_BYTES > directory.length || seen.has(index)) continue;
    seen.add(index);
    const nameBytes = Math.min(64, Math.max(2, directory.readUInt16LE(at + 64)));
    names.add(directory.toString('utf16le', at, at + nameBytes - 2));
    due.push(directory.readUInt32LE(at + 68), directory.readUInt32LE(at + 72));
  }
  return names;
}
