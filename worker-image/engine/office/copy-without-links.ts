/**
 * Copies a document without external links, an OpenDocument package without its macros, and an Office Open XML package
 * whose entries have backslashes in their names with slashes, because LibreOffice does not find them.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { Zip, ZipDeflate } from 'fflate';
import type { Entry, ZipFile } from 'yauzl';
import type { Format } from '#crds/catalogue/formats.ts';
import { openZip } from '#worker-image/engine/containers/open-zip.ts';
import { removeExternalLinksFrom } from '#worker-image/engine/office/external-links.ts';
import { removeExternalRelationships } from '#worker-image/engine/office/external-relationships.ts';

/** Returns the text of an entry without links, or null for an entry that is copied unchanged. */
type Cleaner = (name: string, bytes: Readable) => AsyncIterable<string> | null;

const openDocument: Cleaner = (name, bytes) =>
  /\.(?:xml|rdf)$/i.test(name) ? removeExternalLinksFrom(textOf(bytes)) : null;
const openXml: Cleaner = (name, bytes) => (/\.rels$/i.test(name) ? removeExternalRelationships(bytes) : null);

/** Package formats whose links LibreOffice follows. */
const PACKAGES: Partial<Record<Format, Cleaner>> = {
  odt: openDocument,
  ods: openDocument,
  odp: openDocument,
  pptx: openXml,
};
/** Package formats that are copied only for the names of their entries. */
const OPEN_XML: readonly Format[] = ['docx', 'docm', 'xlsx', 'xlsm', 'pptm'];
const BACKSLASH = 0x5c;
const FLAT: readonly Format[] = ['fodt', 'fods', 'fodp'];

/** Folders of a package with macros: Basic, its dialogs, other languages. */
const MACROS = /^(?:Basic|Dialogs|Scripts)\//;

interface LinkedDocument {
  readonly path: string;
  readonly format: Format;
  /** Private directory. */
  readonly directory: string;
}

/**
 * Returns the path of a document without external links: a copy, or the file itself where LibreOffice follows none and
 * finds all entries.
 * @throws MediaError processing_failed for XML that no office program writes; Error for a damaged package.
 */
export async function copyWithoutLinks(document: LinkedDocument): Promise<string> {
  const { path, format, directory } = document;
  const copy = join(directory, `unlinked.${format}`);
  if (FLAT.includes(format)) await copyFlat(path, copy);
  else {
    // LibreOffice reports a damaged document.
    const needsNames = OPEN_XML.includes(format) && (await hasBackslashes(path).catch(() => false));
    const clean = PACKAGES[format] ?? (needsNames ? openXml : undefined);
    if (clean === undefined) return path;
    await copyPackage(path, copy, clean);
  }
  return copy;
}

/** Returns whether names have backslashes, which some programs for Windows write. yauzl reads them as slashes. */
async function hasBackslashes(path: string): Promise<boolean> {
  const zip = await openZip(path);
  try {
    for await (const { fileNameRaw } of zip.eachEntry()) if (fileNameRaw.includes(BACKSLASH)) return true;
    return false;
  } finally {
    zip.close();
  }
}

async function copyFlat(from: string, to: string): Promise<void> {
  await using source = await open(from, 'r');
  await using target = await open(to, 'w');
  const text = source.createReadStream({ autoClose: false });
  for await (const piece of removeExternalLinksFrom(textOf(text))) await target.writeFile(piece);
}

/**
 * Copies entries that are not XML unchanged and uncompressed, because the copy exists for minutes only. They are marked
 * as deflated: newer office programs refuse stored entries whose size follows their content.
 */
async function copyPackage(from: string, to: string, clean: Cleaner): Promise<void> {
  const source = await openZip(from);
  const target = createWriteStream(to);
  try {
    const zip = new Zip((error, data, final) => {
      if (error) target.destroy(error);
      else if (final) target.end(data);
      else target.write(data);
    });
    const seen = new Set<string>();
    for await (const entry of source.eachEntry()) {
      if (isOmitted(entry.fileName) || seen.has(entry.fileName)) continue;
      seen.add(entry.fileName);
      await copyEntry(source, entry, { zip, clean });
      if (target.writableNeedDrain) await once(target, 'drain');
    }
    zip.end();
    await finished(target);
  } finally {
    source.close();
    target.destroy();
  }
}

function isOmitted(name: string): boolean {
  return name.endsWith('/') || MACROS.test(name);
}

async function copyEntry(
  source: ZipFile,
  entry: Entry,
  { zip, clean }: { readonly zip: Zip; readonly clean: Cleaner },
): Promise<void> {
  const read = promisify<Entry, Readable>(source.openReadStream.bind(source));
  const bytes = await read(entry);
  const pieces = clean(entry.fileName, bytes);
  const part = new ZipDeflate(entry.fileName, { level: pieces === null ? 0 : 1 });
  zip.add(part);
  if (pieces !== null) for await (const piece of pieces) part.push(Buffer.from(piece));
  else for await (const piece of bytes) part.push(piece as Buffer);
  part.push(new Uint8Array(0), true);
}

async function* textOf(bytes: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const piece of bytes) yield decoder.decode(piece as Buffer, { stream: true });
  yield decoder.decode();
}
