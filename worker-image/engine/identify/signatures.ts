import type { Format } from '#crds/catalogue/formats.ts';
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

interface Signature {
  readonly offset: number;
  /** Signature as Latin-1 text; `\xNN` for other bytes. */
  readonly bytes: string;
  /** The format, or the description of a type that is not handled. */
  readonly is: Format | { readonly refuse: string };
}

const format = (is: Format, bytes: string): Signature => ({ offset: 0, bytes, is });
const refuse = (looksLike: string, bytes: string, offset = 0): Signature => ({
  offset,
  bytes,
  is: { refuse: looksLike },
});

/** Formats whose files begin with fixed bytes. The first match decides: a longer signature precedes those that it contains. */
const SIGNATURES: readonly Signature[] = [
  format('jpg', '\xff\xd8\xff'),
  format('png', '\x89PNG\r\n\x1a\n'),
  format('gif', 'GIF87a'),
  format('gif', 'GIF89a'),
  format('raf', 'FUJIFILMCCD-RAW'),
  format('pdf', '%PDF-'),
  format('rtf', '{\\rtf'),
  format('flac', 'fLaC'),
  format('flv', 'FLV\x01'),
  format('mpg', '\x00\x00\x01\xba'),
  format('mpg', '\x00\x00\x01\xb3'),
  format('otf', 'OTTO'),
  format('ttf', '\x00\x01\x00\x00'),
  format('ttf', 'true'),
  format('woff2', 'wOF2'),
  format('woff', 'wOFF'),
  // Word 2 for Windows and Excel 2 to 4 wrote bare records, without the container of later versions.
  format('doc', '\xdb\xa5\x2d\x00'),
  format('xls', '\x09\x00\x04\x00'),
  format('xls', '\x09\x02\x06\x00'),
  format('xls', '\x09\x04\x06\x00'),

  refuse('a collection of fonts', 'ttcf'),
  refuse('a PostScript font', '%!PS-AdobeFont'),
  refuse('a PostScript font', 'typ1'),
  refuse('a PostScript program', '%!PS'),
  refuse('a PostScript program', '\x04%!PS'),
  refuse('a PostScript program', '\xc5\xd0\xd3\xc6'),
  refuse('a Photoshop document', '8BPS'),
  refuse('a JPEG 2000 image', '\x00\x00\x00\x0cjP  \r\n\x87\n'),
  refuse('a JPEG 2000 image', '\xff\x4f\xff\x51'),
  refuse('a JPEG XL image', '\x00\x00\x00\x0cJXL \r\n\x87\n'),
  refuse('a JPEG XL image', '\xff\x0a'),
  refuse('a MNG animation', '\x8aMNG\r\n\x1a\n'),
  refuse('an icon', '\x00\x00\x01\x00'),
  refuse('a cursor', '\x00\x00\x02\x00'),
  refuse('an Apple icon', 'icns'),
  refuse('a GIMP image', 'gimp xcf'),
  refuse('an OpenEXR image', 'v/1\x01'),
  refuse('a DjVu document', 'AT&TFORM'),
  refuse('a Core Audio file', 'caff\x00\x01'),
  refuse('a MIDI file', 'MThd'),
  refuse('an AMR audio file', '#!AMR'),
  refuse("a Monkey's Audio file", 'MAC '),
  refuse('a WavPack audio file', 'wvpk'),
  refuse('a RealMedia file', '.RMF'),
  refuse('a Flash program', 'FWS'),
  refuse('a Flash program', 'CWS'),
  refuse('a WebAssembly program', '\x00asm'),
  refuse('a Linux program', '\x7fELF'),
  refuse('a macOS program', '\xcf\xfa\xed\xfe'),
  refuse('a macOS program', '\xca\xfe\xba\xbe'),
  refuse('a 7-Zip archive', "7z\xbc\xaf'\x1c"),
  refuse('a RAR archive', 'Rar!\x1a\x07'),
  refuse('a gzip archive', '\x1f\x8b\x08'),
  refuse('a bzip2 archive', 'BZh'),
  refuse('an xz archive', '\xfd7zXZ\x00'),
  refuse('a Zstandard archive', '\x28\xb5\x2f\xfd'),
  refuse('an SQLite database', 'SQLite format 3\x00'),
  refuse('a Windows program', 'MZ'),
];

/** Types with fixed bytes elsewhere, which files of other formats may contain at the same offset. */
const LATER_SIGNATURES: readonly Signature[] = [
  refuse('a fragment of a stream', 'styp', 4),
  refuse('a fragment of a stream', 'moof', 4),
  refuse('an AIFF audio file', 'AIFF', 8),
  refuse('an AIFF audio file', 'AIFC', 8),
  refuse('a tar archive', 'ustar', 257),
];

/**
 * Returns the format of the first signature at the start of the file; null when none matches.
 * @throws MediaError unsupported_input for a known type that is not handled.
 */
export function formatOfSignature(head: Buffer): Format | null {
  return firstMatch(SIGNATURES, head);
}

/** Refuses known types whose signature is not at the start. @throws MediaError unsupported_input. */
export function refuseLaterSignature(head: Buffer): null {
  firstMatch(LATER_SIGNATURES, head);
  return null;
}

function firstMatch(signatures: readonly Signature[], head: Buffer): Format | null {
  const found = signatures.find(({ offset, bytes }) => hasBytes(head, bytes, offset) && isPlausible(head, bytes));
  if (found === undefined) return null;
  if (typeof found.is === 'string') return found.is;
  throw unsupported(found.is.refuse);
}

/** Returns whether a match is more than text: a signature of letters alone also requires a zero byte near the start. */
function isPlausible(head: Buffer, bytes: string): boolean {
  if (FONT_SIGNATURES.includes(bytes)) return isFontDirectory(head);
  const isWord = /^[ -~]+$/.test(bytes) && !TEXT_SIGNATURES.some((start) => bytes.startsWith(start));
  return !isWord || head.subarray(0, 512).includes(0);
}

const FONT_SIGNATURES: readonly string[] = ['\x00\x01\x00\x00', 'true', 'OTTO'];
const TEXT_SIGNATURES: readonly string[] = ['{\\rtf', '%PDF-', '%!PS'];

/** Returns whether a plausible number of tables is followed by a tag of four printable characters. */
function isFontDirectory(head: Buffer): boolean {
  if (head.length < 28) return false;
  const tables = head.readUInt16BE(4);
  return tables > 0 && tables <= 1024 && /^[ -~]{4}$/.test(head.toString('latin1', 12, 16));
}
