/** A copy of a document that names nothing outside of itself; of OpenDocument files, without the macros in the package. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { Zip, ZipDeflate } from 'fflate';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import type { Format } from '#crds/formats.ts';
import { withoutOutsideLinksIn } from '#worker-image/engine/office/outside-links.ts';
import { withoutOutsideRelationships } from '#worker-image/engine/office/outside-relationships.ts';

/** The clean text of an entry; null for one that is carried over as it is. */
type Cleaner = (name: string, bytes: Readable) => AsyncIterable<string> | null;

const openDocument: Cleaner = (name, bytes) =>
  /\.(?:xml|rdf)$/i.test(name) ? withoutOutsideLinksIn(textOf(bytes)) : null;
const openXml: Cleaner = (name, bytes) => (/\.rels$/i.test(name) ? withoutOutsideRelationships(bytes) : null);

/** LibreOffice follows no link of the other Office Open XML formats. */
const PACKAGES: Partial<Record<Format, Cleaner>> = {
  odt: openDocument,
  ods: openDocument,
  odp: openDocument,
  pptx: openXml,
};
const FLAT: readonly Format[] = ['fodt', 'fods', 'fodp'];

/** Folders of a package that hold programs: Basic, its dialogues, other languages. */
const PROGRAMS = /^(?:Basic|Dialogs|Scripts)\//;

interface Document {
  readonly path: string;
  readonly format: Format;
  /** Private. */
  readonly directory: string;
}

/**
 * The path of a document that may be opened: a copy, or the file itself where LibreOffice follows no link.
 * @throws MediaError processing_failed for XML that no office program writes; Error for a damaged package.
 */
export async function unlinkedDocument(document: Document): Promise<string> {
  const { path, format, directory } = document;
  const copy = join(directory, `unlinked.${format}`);
  if (FLAT.includes(format)) await copyFlat(path, copy);
  else {
    const clean = PACKAGES[format];
    if (clean === undefined) return path;
    await copyPackage(path, copy, clean);
  }
  return copy;
}

async function copyFlat(from: string, to: string): Promise<void> {
  await using source = await open(from, 'r');
  await using target = await open(to, 'w');
  const text = source.createReadStream({ autoClose: false });
  for await (const piece of withoutOutsideLinksIn(textOf(text))) await target.writeFile(piece);
}

/**
 * Entries that are not XML are carried over as they are, without compression: the copy lives for minutes. They are
 * marked as deflated all the same: newer office programs refuse stored entries whose size follows their content.
 */
async function copyPackage(from: string, to: string, clean: Cleaner): Promise<void> {
  const source = await openPromise(from, { lazyEntries: true, autoClose: false });
  const target = createWriteStream(to);
  try {
    const zip = new Zip((error, data, final) => {
      if (error) target.destroy(error);
      else if (final) target.end(data);
      else target.write(data);
    });
    const seen = new Set<string>();
    for await (const entry of source.eachEntry()) {
      if (isLeftOut(entry.fileName) || seen.has(entry.fileName)) continue;
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

function isLeftOut(name: string): boolean {
  return name.endsWith('/') || PROGRAMS.test(name);
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
