/** Known types that are not handled, by their fixed bytes. Those of formats are in `crds/catalogue/formats.ts`. */
import { isPlausible } from '#crds/contract/first-bytes.ts';
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

interface RefusedType {
  readonly looksLike: string;
  /** Signature as Latin-1 text; `\xNN` for other bytes. */
  readonly bytes: string;
  readonly offset: number;
}

const refuse = (looksLike: string, bytes: string, offset = 0): RefusedType => ({ looksLike, bytes, offset });

/** The first match decides: a longer signature precedes those that it contains. */
const REFUSED: readonly RefusedType[] = [
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
const LATER_REFUSED: readonly RefusedType[] = [
  refuse('a fragment of a stream', 'styp', 4),
  refuse('a fragment of a stream', 'moof', 4),
  refuse('an AIFF audio file', 'AIFF', 8),
  refuse('an AIFF audio file', 'AIFC', 8),
  refuse('a tar archive', 'ustar', 257),
];

/** Refuses known types by their signature at the start of the file. @throws MediaError unsupported_input. */
export function refuseSignature(head: Buffer): null {
  return refuseFirstMatch(REFUSED, head);
}

/** Refuses known types whose signature is not at the start. @throws MediaError unsupported_input. */
export function refuseLaterSignature(head: Buffer): null {
  return refuseFirstMatch(LATER_REFUSED, head);
}

function refuseFirstMatch(types: readonly RefusedType[], head: Buffer): null {
  const found = types.find((type) => hasBytes(head, type.bytes, type.offset) && isPlausible(head, type));
  if (found === undefined) return null;
  throw unsupported(found.looksLike);
}
