/** Embeds the images that LibreOffice wrote beside an HTML page. */
import { createReadStream } from 'node:fs';
import { readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { FORMATS, formatOfName } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { LibreOfficeOutput } from '#worker-image/engine/office/run-libreoffice.ts';

const ADDRESS = /src="([^"]{1,300})"/g;
/** An incomplete address at the end of a piece. */
const UNFINISHED = /s(?:r(?:c(?:=(?:"[^"]{0,300})?)?)?)?$/;
/**
 * Maximum length of the embedded images, in characters: a page can name the same image many times. A string has at most
 * 536,870,888 characters.
 */
const MAX_EMBEDDED_CHARS = 500_000_000;

interface EmbedImages extends LibreOfficeOutput {
  /** Maximum length of the embedded images, in characters. */
  readonly maxChars?: number;
}

/**
 * Replaces the addresses of image files by `data:` URLs. The filter of Calc writes files whatever its options.
 * @throws MediaError limit_exceeded.
 */
export async function embedImages({ path, directory, maxChars = MAX_EMBEDDED_CHARS }: EmbedImages): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name !== basename(path));
  if (names.length === 0) return;
  const lengths = new Map<string, number>();
  for (const name of names) lengths.set(name, base64Length((await stat(join(directory, name))).size));
  const embedded = `${path}.embedded`;
  await writeFile(embedded, withImages({ path, directory, maxChars }, lengths));
  await rename(embedded, path);
}

/** Yields the page with its images. Reads it in pieces, because a page of a large sheet is longer than a string can be. */
async function* withImages(
  { path, directory, maxChars }: Required<EmbedImages>,
  lengths: ReadonlyMap<string, number>,
): AsyncGenerator<string> {
  const urls = new Map<string, string>();
  let [tail, chars] = ['', 0];
  for await (const piece of createReadStream(path, 'utf8')) {
    const html = tail + String(piece);
    tail = UNFINISHED.exec(html)?.[0] ?? '';
    const end = html.length - tail.length;
    let from = 0;
    for (const { 0: address, 1: name = '', index } of html.slice(0, end).matchAll(ADDRESS)) {
      const length = lengths.get(name);
      if (length === undefined) continue;
      chars += length;
      if (chars > maxChars) throw tooLarge(maxChars);
      const url = urls.get(name) ?? (await dataUrl(join(directory, name)));
      urls.set(name, url);
      yield `${html.slice(from, index)}src="${url}"`;
      from = index + address.length;
    }
    yield html.slice(from, end);
  }
  yield tail;
}

async function dataUrl(path: string): Promise<string> {
  const format = formatOfName(basename(path));
  const type = format === null ? `image/${extname(path).slice(1)}` : FORMATS[format].mediaType;
  return `data:${type};base64,${(await readFile(path)).toString('base64')}`;
}

function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

function tooLarge(maxChars: number): MediaError {
  return new MediaError(
    'limit_exceeded',
    `The images of the HTML page have more than ${maxChars} characters in base64. Convert to pdf, or use smaller images.`,
  );
}
