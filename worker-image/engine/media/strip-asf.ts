/** Takes the tags out of a WMA: their objects become padding in place, so that nothing in the file moves. Source: ASF 1.2. */
import { MediaError } from '#crds/media-error.ts';

const HEADER = guid('3026b275-8e66-cf11-a6d9-00aa0062ce6c');
const EXTENSION = guid('b503bf5f-2ea9-cf11-8ee3-00c00c205365');
const PADDING = guid('74d40618-dfca-0945-a4ba-9aabcb96aae8');
/** Content description and its extension, metadata, metadata library, markers. */
const TELLING = [
  guid('3326b275-8e66-cf11-a6d9-00aa0062ce6c'),
  guid('40a4d0d2-07e3-d211-97f0-00a0c95ea850'),
  guid('eacbf8c5-af5b-7748-8467-aa8c44fa4cca'),
  guid('941c2344-9894-d149-a141-1d134e457054'),
  guid('01cd87f4-51a9-cf11-8ee6-00c00c205365'),
];
const HEAD_BYTES = 24;
/** Of the header object before its objects, and of the extension before its own. */
const HEADER_BYTES = 30;
const EXTENSION_BYTES = 46;

/** @throws MediaError processing_failed when the header is damaged. */
export function stripAsf(original: Buffer): Buffer {
  const file = Buffer.from(original);
  if (!isAt(file, 0, HEADER)) throw damaged();
  blankObjects(file, HEADER_BYTES, endOf(file, 0));
  return file;
}

function blankObjects(file: Buffer, start: number, end: number): void {
  let at = start;
  while (at + HEAD_BYTES <= end) {
    const next = endOf(file, at);
    if (next > end) throw damaged();
    if (TELLING.some((name) => isAt(file, at, name))) {
      PADDING.copy(file, at);
      file.fill(0, at + HEAD_BYTES, next);
    } else if (isAt(file, at, EXTENSION)) blankObjects(file, at + EXTENSION_BYTES, next);
    at = next;
  }
}

function isAt(file: Buffer, at: number, name: Buffer): boolean {
  return file.subarray(at, at + name.length).equals(name);
}

function endOf(file: Buffer, at: number): number {
  if (at + HEAD_BYTES > file.length) throw damaged();
  const end = at + Number(file.readBigUInt64LE(at + 16));
  if (end > file.length || end < at + HEAD_BYTES) throw damaged();
  return end;
}

/** In the order of the file's bytes. */
function guid(text: string): Buffer {
  return Buffer.from(text.replaceAll('-', ''), 'hex');
}

function damaged(): MediaError {
  return new MediaError('processing_failed', 'The wma file is damaged: its header does not hold together.');
}
