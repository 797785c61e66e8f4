/** The XML of a document as it comes from its file, for those who look for a few tags in it. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { openPromise } from 'yauzl';

/** A tag that is cut off at the end of a piece; longer ones are none of those that anybody looks for. */
const UNFINISHED = /<[^<>]{0,4096}$/;

/** The parts of a package that have such names; with null the file itself. @throws Error for a damaged package. */
export async function* partsOf(path: string, names: RegExp | null): AsyncGenerator<Readable> {
  if (names === null) return yield createReadStream(path);
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      if (names.test(entry.fileName)) yield await zip.openReadStreamPromise(entry);
    }
  } finally {
    zip.close();
  }
}

/** A part in pieces that end behind a tag or inside of text, each byte a character: names of tags are ASCII. */
export async function* wholeTags(part: Readable): AsyncGenerator<string> {
  let tail = '';
  for await (const piece of part) {
    const xml = tail + (piece as Buffer).toString('latin1');
    tail = UNFINISHED.exec(xml)?.[0] ?? '';
    yield xml.slice(0, xml.length - tail.length);
  }
}
