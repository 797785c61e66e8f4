import { promisify } from 'node:util';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import type { Format } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import { passwordNeeded } from '#worker-image/engine/identify/ole2.ts';
import { has } from '#worker-image/engine/identify/signatures.ts';
import type { SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

const MAX_ENTRIES = 10_000;
const MAX_UNPACKED_BYTES = 2 * 1024 ** 3;
/** A package may unpack to this many times its size once it is over the bytes below. */
const MAX_RATIO = 100;
const RATIO_FROM_BYTES = 64 * 1024 ** 2;
const MAX_READ_BYTES = 4 * 1024 ** 2;

/** Part of a content type in `[Content_Types].xml` → format; null names one that is not handled. */
const CONTENT_TYPES: readonly (readonly [part: string, format: Format | null])[] = [
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
 * Office packages by what their central directory lists; null when it is no ZIP.
 * @throws MediaError unsupported_input for other archives; processing_failed for one that is damaged,
 * under a password, or unpacks to more than an office document does.
 */
export async function formatOfZip(file: SniffedFile): Promise<Format | null> {
  if (!has(file.head, 'PK\x03\x04') && !has(file.head, 'PK\x05\x06')) return null;
  const zip = await openZip(file);
  try {
    const entries = await listEntries(zip);
    const format = (await openDocument(zip, entries)) ?? (await officeOpenXml(zip, entries));
    if (format === null) throw unsupported('a ZIP archive that is no office document');
    refuseBomb(file, entries);
    return format;
  } finally {
    zip.close();
  }
}

async function openZip(file: SniffedFile): Promise<ZipFile> {
  const open = promisify<string, yauzl.Options, ZipFile>(yauzl.open);
  return open(file.path, { lazyEntries: true, autoClose: false }).catch((error: unknown) => {
    throw damaged(error);
  });
}

/** Names with `..`, backslashes or a leading slash are an error of the reader. */
function listEntries(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  if (zip.entryCount > MAX_ENTRIES) {
    throw new MediaError(
      'processing_failed',
      `The package has ${zip.entryCount} entries; at most ${MAX_ENTRIES} are opened.`,
    );
  }
  return new Promise((resolve, reject) => {
    const entries = new Map<string, Entry>();
    zip.on('error', (error) => reject(damaged(error)));
    zip.on('end', () => resolve(entries));
    zip.on('entry', (entry: Entry) => {
      entries.set(entry.fileName, entry);
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
  if (manifest !== undefined && (await readEntry(zip, manifest)).includes(':encryption-data')) throw passwordNeeded();
  return found[1];
}

async function officeOpenXml(zip: ZipFile, entries: ReadonlyMap<string, Entry>): Promise<Format | null> {
  const list = entries.get('[Content_Types].xml');
  if (list === undefined) return null;
  const types = (await readEntry(zip, list)).toLowerCase();
  if (types.includes('ms-excel.sheet.binary.macroenabled.main')) throw unsupported('a binary Excel workbook (xlsb)');
  return CONTENT_TYPES.find(([part]) => types.includes(part))?.[1] ?? null;
}

function refuseBomb(file: SniffedFile, entries: ReadonlyMap<string, Entry>): void {
  const unpacked = [...entries.values()].reduce((sum, entry) => sum + entry.uncompressedSize, 0);
  const allowed = Math.min(MAX_UNPACKED_BYTES, Math.max(RATIO_FROM_BYTES, file.size * MAX_RATIO));
  if (unpacked <= allowed) return;
  throw new MediaError(
    'processing_failed',
    `The document unpacks to ${unpacked} bytes from ${file.size}; at most ${allowed} are unpacked. Save it again with less in it.`,
  );
}

async function readEntry(zip: ZipFile, entry: Entry): Promise<string> {
  if (entry.isEncrypted()) throw passwordNeeded();
  if (entry.uncompressedSize > MAX_READ_BYTES)
    throw damaged(new Error(`${entry.fileName} has ${entry.uncompressedSize} bytes`));
  const open = promisify<Entry, NodeJS.ReadableStream>(zip.openReadStream.bind(zip));
  try {
    const parts: Buffer[] = [];
    for await (const part of await open(entry)) parts.push(part as Buffer);
    return Buffer.concat(parts).toString('utf8');
  } catch (error) {
    throw damaged(error);
  }
}

function damaged(cause: unknown): MediaError {
  return new MediaError(
    'processing_failed',
    'The file is a ZIP package that is damaged or was cut off. Send it whole.',
    { cause },
  );
}
