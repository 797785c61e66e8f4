import { formatOfName, FORMATS, type Format } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';
import { htmlCharset } from '#worker-image/engine/containers/html-charset.ts';
import { utf16Name } from '#worker-image/engine/containers/read-text.ts';
import { Utf8Counter } from '#worker-image/engine/containers/utf8-counter.ts';

const TEXT_FORMATS: readonly Format[] = ['txt', 'csv', 'tsv', 'json', 'ndjson', 'html', 'md'];
const TAIL_BYTES = 16 * 1024;
/** Maximum share of control characters in UTF-8 with the name of a text: exports of databases have a few. */
const MAX_CONTROL_SHARE = 0.01;
const FLAT_ODF =
  /\boffice:mimetype\s*=\s*["']application\/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation)(?:-template)?["']/;

/** Starts of texts that refer to other files, such as playlists, or that are of another type. */
const REFUSED_STARTS: readonly (readonly [start: RegExp, looksLike: string])[] = [
  [/^#EXTM3U/, 'an m3u8 playlist'],
  [/^ffconcat version/, 'an ffconcat playlist'],
  [/^\[playlist\]/i, 'a PLS playlist'],
  [/^v=0\r?\no=/, 'a session description (SDP)'],
  [/^%!PS/, 'a PostScript program'],
];

/** XML documents of other types, by the name of the root element without its prefix, in lower case. */
const REFUSED_ROOTS: ReadonlyMap<string, string> = new Map([
  ['svg', 'an SVG drawing'],
  ['mpd', 'a DASH manifest'],
  ['smoothstreamingmedia', 'a Smooth Streaming manifest'],
  ['asx', 'an ASX playlist'],
  ['smil', 'a SMIL playlist'],
  ['playlist', 'an XSPF playlist'],
  ['worddocument', 'a Word 2003 XML document'],
  ['workbook', 'an Excel 2003 XML workbook'],
  ['package', 'a flat Office Open XML document'],
]);

/**
 * Returns flat OpenDocument by its root element, and other text formats by the extension of the name; null when the
 * bytes are not text.
 * @throws MediaError unsupported_input for text of another type, in an unknown encoding or without a matching name.
 */
export async function formatOfText(file: SniffedFile): Promise<Format | null> {
  if (await endsWithZeros(file)) return null;
  const named = textFormatOfName(file.filename);
  const text = decode(file, named);
  if (text === null) {
    if (named !== null) refuseUnknownEncoding(file.head, named);
    return null;
  }
  refuseLookAlikes(text);
  const flat = flatOpenDocument(text);
  if (flat !== null) return flat;
  if (named !== null) return named;
  throw new MediaError('unsupported_input', `${reasonOf(file.filename)} Give a name that ends in ${extensions()}.`);
}

/** Returns the text format whose extension the name has; null for any other name. */
export function textFormatOfName(filename: string | null): Format | null {
  return TEXT_FORMATS.find((format) => format === formatOfName(filename)) ?? null;
}

function reasonOf(filename: string | null): string {
  const named = formatOfName(filename);
  if (named !== null) return `The file name indicates ${named}, but its content is text.`;
  return 'The file is text, and its name has no known extension.';
}

/** Refuses text in an older encoding, which has no control characters; other data with the name of a text has some. */
function refuseUnknownEncoding(head: Buffer, named: Format): void {
  if (hasControls(head.toString('latin1'))) return;
  throw new MediaError(
    'unsupported_input',
    `The file name indicates ${named}, but its text is neither UTF-8 nor UTF-16, and its encoding is not known. Save it as UTF-8 and send it again.`,
  );
}

function refuseLookAlikes(text: string): void {
  const start = text.trimStart();
  const looksLike = REFUSED_STARTS.find(([pattern]) => pattern.test(start))?.[1] ?? REFUSED_ROOTS.get(rootName(text));
  if (looksLike !== undefined) throw unsupported(looksLike);
}

/** Returns the name of the first element behind declaration, comments and document type; empty without one. */
function rootName(text: string): string {
  let at = 0;
  for (;;) {
    while (/\s/.test(text.charAt(at))) at += 1;
    const end = PROLOG.find(([open]) => text.startsWith(open, at))?.[1];
    if (end === undefined) break;
    const found = text.indexOf(end, at);
    if (found === -1) return '';
    at = found + end.length;
  }
  const name = /^<(?:[\w.-]{1,40}:)?([\w.-]{1,40})/.exec(text.slice(at, at + 100));
  return name?.[1]?.toLowerCase() ?? '';
}

/** Start and end of the constructs that may precede the root element. */
const PROLOG: readonly (readonly [open: string, end: string])[] = [
  ['<?', '?>'],
  ['<!--', '-->'],
  ['<!', '>'],
  // The remainder of a document type with internal declarations.
  [']', '>'],
];

function flatOpenDocument(text: string): Format | null {
  if (rootName(text) !== 'document' || !/<office:document[\s>]/.test(text)) return null;
  const type = FLAT_ODF.exec(text)?.[1];
  if (type === undefined)
    throw unsupported('a flat OpenDocument file of another type than text, spreadsheet and presentation');
  return type === 'text' ? 'fodt' : type === 'spreadsheet' ? 'fods' : 'fodp';
}

/**
 * Returns the text: UTF-16 with or without a byte order mark, else UTF-8 with few invalid bytes, else Windows-1252
 * without control characters, else in the encoding that an HTML page declares; null when the bytes are not text.
 */
function decode({ head, size }: SniffedFile, named: Format | null): string | null {
  const isTruncated = size > head.length;
  const utf16 = utf16Name(head);
  if (utf16 !== null) return strictText(head.subarray(0, head.length & ~1), utf16, isTruncated);
  if (head.includes(0)) return null;
  const maxControls = named === null ? 0 : head.length * MAX_CONTROL_SHARE;
  const text = utf8Text(head, isTruncated, maxControls) ?? windows1252(head);
  const charset = named === 'html' ? htmlCharset(head) : null;
  return text === null && charset !== null ? strictText(head, charset, isTruncated) : text;
}

/** Returns text that `readText` reads as UTF-8, or null. */
function utf8Text(head: Buffer, isTruncated: boolean, maxControls: number): string | null {
  const counter = new Utf8Counter();
  counter.write(head);
  if (!counter.isMostlyUtf8(head)) return strictText(head, 'utf-8', isTruncated, maxControls);
  const text = new TextDecoder().decode(head);
  return hasControls(text, maxControls) ? null : text;
}

function strictText(bytes: Buffer, encoding: string, isTruncated: boolean, maxControls = 0): string | null {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: isTruncated });
    return hasControls(text, maxControls) ? null : text;
  } catch {
    return null;
  }
}

function windows1252(bytes: Buffer): string | null {
  if (bytes.some((byte) => [0x81, 0x8d, 0x8f, 0x90, 0x9d].includes(byte))) return null;
  const text = new TextDecoder('windows-1252').decode(bytes);
  // Binary data without zeros would pass as Windows-1252: text is mostly ASCII.
  const ascii = bytes.filter((byte) => byte < 0x80).length;
  return hasControls(text) || ascii < bytes.length * 0.5 ? null : text;
}

function hasControls(text: string, most = 0): boolean {
  // eslint-disable-next-line no-control-regex
  return (text.match(/[\x00-\x07\x0e-\x19\x1c-\x1f\x7f]/g)?.length ?? 0) > most;
}

/** Returns whether the end of the file has zero bytes. It is not decoded, as it may begin inside a character. */
async function endsWithZeros(file: SniffedFile): Promise<boolean> {
  if (file.size <= file.head.length || utf16Name(file.head) !== null) return false;
  return (await file.read(Math.max(0, file.size - TAIL_BYTES), TAIL_BYTES)).includes(0);
}

function extensions(): string {
  return TEXT_FORMATS.map((format) => `.${FORMATS[format].extensions[0]}`).join(', ');
}
