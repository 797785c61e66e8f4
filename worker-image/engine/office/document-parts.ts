/** Streams the XML parts of a document for readers that search it for a few tags. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { openZip } from '#worker-image/engine/containers/open-zip.ts';

/** An incomplete tag at the end of a piece. Longer tags are none that any reader searches for. */
const UNFINISHED = /<[^<>]{0,4096}$/;

/** Yields the parts of a package whose names match; with null the file itself. @throws Error for a damaged package. */
export async function* partsOf(path: string, names: RegExp | null): AsyncGenerator<Readable> {
  if (names === null) return yield createReadStream(path);
  const zip = await openZip(path);
  try {
    for await (const entry of zip.eachEntry()) {
      if (names.test(entry.fileName)) yield await zip.openReadStreamPromise(entry);
    }
  } finally {
    zip.close();
  }
}

/** Returns the sum of the counts in the parts whose names match, without those from a damaged one on. */
export async function countInParts(
  path: string,
  names: RegExp | null,
  count: (part: Readable) => Promise<number>,
): Promise<number> {
  let sum = 0;
  try {
    for await (const part of partsOf(path, names)) sum += await count(part);
  } catch {
    // LibreOffice opened the document, possibly with repairs: only a warning is missing.
  }
  return sum;
}

/** Returns the number of matches of a global pattern, each within one tag, in a part. */
export async function countMatches(part: Readable, pattern: RegExp): Promise<number> {
  let count = 0;
  for await (const xml of wholeTags(part)) count += xml.match(pattern)?.length ?? 0;
  return count;
}

/** Returns the warning that a target omits so many things, which are named in the singular; none for 0. */
export function omissionWarnings(count: number, what: string, why = ''): string[] {
  if (count === 0) return [];
  return [`${count === 1 ? `A ${what} was` : `${count} ${what}s were`} omitted${why}.`];
}

/** Yields a part in pieces that do not end inside a tag, as Latin-1: tag names are ASCII. */
export async function* wholeTags(part: Readable): AsyncGenerator<string> {
  let tail = '';
  for await (const piece of part) {
    const xml = tail + (piece as Buffer).toString('latin1');
    tail = UNFINISHED.exec(xml)?.[0] ?? '';
    yield xml.slice(0, xml.length - tail.length);
  }
}
