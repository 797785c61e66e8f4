/** A copy of an OpenDocument file that names nothing outside of itself and holds no macros in its package. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { Zip, ZipDeflate, ZipPassThrough } from 'fflate';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import type { Format } from '#crds/formats.ts';
import { withoutOutsideLinksIn } from '#worker-image/engine/office/outside-links.ts';

const PACKAGES: readonly Format[] = ['odt', 'ods', 'odp'];
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
 * The path of a document that may be opened: the copy of an OpenDocument file, or the file itself for other formats.
 * @throws MediaError processing_failed for XML that no office program writes; Error for a damaged package.
 */
export async function unlinkedDocument(document: Document): Promise<string> {
  const { path, format, directory } = document;
  const copy = join(directory, `unlinked.${format}`);
  if (FLAT.includes(format)) await copyFlat(path, copy);
  else if (PACKAGES.includes(format)) await copyPackage(path, copy);
  else return path;
  return copy;
}

async function copyFlat(from: string, to: string): Promise<void> {
  await using source = await open(from, 'r');
  await using target = await open(to, 'w');
  const text = source.createReadStream({ autoClose: false });
  for await (const piece of withoutOutsideLinksIn(textOf(text))) await target.writeFile(piece);
}

/** Entries that are not XML are carried over as they are, unpacked: the copy lives for minutes. */
async function copyPackage(from: string, to: string): Promise<void> {
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
      await copyEntry(source, entry, zip);
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

async function copyEntry(source: ZipFile, entry: Entry, zip: Zip): Promise<void> {
  const read = promisify<Entry, Readable>(source.openReadStream.bind(source));
  const bytes = await read(entry);
  const isXml = /\.(?:xml|rdf)$/i.test(entry.fileName);
  const part = isXml ? new ZipDeflate(entry.fileName, { level: 1 }) : new ZipPassThrough(entry.fileName);
  zip.add(part);
  if (isXml) for await (const piece of withoutOutsideLinksIn(textOf(bytes))) part.push(Buffer.from(piece));
  else for await (const piece of bytes) part.push(piece as Buffer);
  part.push(new Uint8Array(0), true);
}

async function* textOf(bytes: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const piece of bytes) yield decoder.decode(piece as Buffer, { stream: true });
  yield decoder.decode();
}
