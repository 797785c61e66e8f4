import { promisify } from 'node:util';
import type { Entry, ZipFile } from 'yauzl';
import type { Format } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';
import { openZip } from '#worker-image/engine/containers/open-zip.ts';
import type { SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';
import { passwordRequired } from '#worker-image/engine/password-required.ts';

/** Maximum number of entries of a package. */
const MAX_ENTRIES = 10_000;
const MAX_UNPACKED_BYTES = 2 * 1024 ** 3;
/** Maximum ratio of unpacked to packed size, for packages that unpack to more than `RATIO_FROM_BYTES`. */
const MAX_RATIO = 100;
const RATIO_FROM_BYTES = 64 * 1024 ** 2;
/** Maximum size of an entry that is read, in bytes. */
const MAX_READ_BYTES = 4 * 1024 ** 2;

/** Formats by a part of a content type in `[Content_Types].xml`. */
const CONTENT_TYPES: readonly (readonly [part: string, format: Format])[] = [
  ['wordprocessingml.document.main+xml', 'docx'],
  ['wordprocessingml.template.main+xml', 'docx'],
  ['ms-word.document.macroenabled.main+xml', 'docm'],
  ['ms-word.template.macroenabledtemplate.main+xml', 'docm'],
  ['spreadsheetml.sheet.main+xml', 'xlsx'],
  ['spreadsheetml.template.main+xml', 'xlsx'],
  ['ms-excel.sheet.macroenabled.main+xml', 'xlsm'],
  ['ms-excel.template.macroenabled.main+xml', 'xlsm'],
  ['presentationml.presentation.main+xml', 'pptx'],
  ['presentationml.slideshow.main+xml', 'pptx'],
  ['presentationml.template.main+xml', 'pptx'],
  ['ms-powerpoint.presentation.macroenabled.main+xml', 'pptm'],
  ['ms-powerpoint.slideshow.macroenabled.main+xml', 'pptm'],
  ['ms-powerpoint.template.macroenabled.main+xml', 'pptm'],
];

const ODF = 'application/vnd.oasis.opendocument.';
const ODF_TYPES: readonly (readonly [type: string, format: Format])[] = [
  ['text', 'odt'],
  ['spreadsheet', 'ods'],
  ['presentation', 'odp'],
];

/**
 * Returns the office format by the entries of a package; null when the file is not ZIP.
 * @throws MediaError unsupported_input for other archives; processing_failed for one that is damaged or encrypted, or
 *   unpacks to more than an office document does.
 */
export async function formatOfZip(file: SniffedFile): Promise<Format | null> {
  if (!hasBytes(file.head, 'PK\x03\x04') && !hasBytes(file.head, 'PK\x05\x06')) return null;
  const zip = await openZip(file.path).catch((error: unknown) => {
    throw damaged(error);
  });
  try {
    const { entries, unpackedBytes } = await listEntries(zip);
    const format = (await openDocument(zip, entries)) ?? (await officeOpenXml(zip, entries));
    if (format === null) throw unsupported('a ZIP archive that is no office document');
    refuseBomb(file, unpackedBytes);
    return format;
  } finally {
    zip.close();
  }
}

interface ZipDirectory {
  /** Entries by name; the last one of a name that occurs twice. */
  readonly entries: ReadonlyMap<string, Entry>;
  /** Sum of the sizes of all entries, in bytes: readers decompress each entry of a name that occurs twice. */
  readonly unpackedBytes: number;
}

/** Returns the entries. yauzl rejects names with `..`, backslashes or a leading slash. */
function listEntries(zip: ZipFile): Promise<ZipDirectory> {
  if (zip.entryCount > MAX_ENTRIES) {
    throw new MediaError(
      'processing_failed',
      `The package has ${zip.entryCount} entries; at most ${MAX_ENTRIES} are opened.`,
    );
  }
  return new Promise((resolve, reject) => {
    const entries = new Map<string, Entry>();
    let unpackedBytes = 0;
    zip.on('error', (error) => reject(damaged(error)));
    zip.on('end', () => resolve({ entries, unpackedBytes }));
    zip.on('entry', (entry: Entry) => {
      entries.set(entry.fileName, entry);
      unpackedBytes += entry.uncompressedSize;
      zip.readEntry();
    });
    zip.readEntry();
  });
}

async function openDocument(zip: ZipFile, entries: ReadonlyMap<string, Entry>): Promise<Format | null> {
  const mimetype = entries.get('mimetype');
  if (mimetype === undefined) return null;
  const type = (await readEntry(zip, mimetype)).trim();
  if (!type.startsWith(ODF)) throw unsupported(`a package of the type ${JSON.stringify(type.slice(0, 80))}`);
  const name = type.slice(ODF.length).replace(/-template$/, '');
  const found = ODF_TYPES.find(([odf]) => odf === name);
  if (found === undefined) throw unsupported(`an OpenDocument ${name.slice(0, 40)} file`);
  const manifest = entries.get('META-INF/manifest.xml');
  if (manifest !== undefined && (await readEntry(zip, manifest)).includes(':encryption-data')) throw passwordRequired();
  return found[1];
}

async function officeOpenXml(zip: ZipFile, entries: ReadonlyMap<string, Entry>): Promise<Format | null> {
  const list = entries.get('[Content_Types].xml');
  if (list === undefined) return null;
  const types = (await readEntry(zip, list)).toLowerCase();
  if (types.includes('ms-excel.sheet.binary.macroenabled.main')) throw unsupported('a binary Excel workbook (xlsb)');
  return CONTENT_TYPES.find(([part]) => types.includes(part))?.[1] ?? null;
}

function refuseBomb(file: SniffedFile, unpacked: number): void {
  const allowed = Math.min(MAX_UNPACKED_BYTES, Math.max(RATIO_FROM_BYTES, file.size * MAX_RATIO));
  if (unpacked <= allowed) return;
  throw new MediaError(
    'processing_failed',
    `The document decompresses from ${file.size} to ${unpacked} bytes; the maximum is ${allowed}. Save it with less content.`,
  );
}

async function readEntry(zip: ZipFile, entry: Entry): Promise<string> {
  if (entry.isEncrypted()) throw passwordRequired();
  if (entry.uncompressedSize > MAX_READ_BYTES)
    throw damaged(new Error(`${entry.fileName} has ${entry.uncompressedSize} bytes`));
  const open = promisify<Entry, NodeJS.ReadableStream>(zip.openReadStream.bind(zip));
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of await open(entry)) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    throw damaged(error);
  }
}

function damaged(cause: unknown): MediaError {
  return new MediaError(
    'processing_failed',
    'The file is a ZIP package that is damaged or truncated. Send the whole file.',
    { cause },
  );
}
