import { FORMATS, formatOfName, type Format } from '#crds/catalogue/formats.ts';
import { formatOfSignature, possibleKinds } from '#crds/contract/first-bytes.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import type { Identified } from '#worker-image/engine/handler.ts';
import { formatOfAsf } from '#worker-image/engine/identify/asf.ts';
import { formatOfBmp } from '#worker-image/engine/identify/bmp.ts';
import { formatOfEbml } from '#worker-image/engine/identify/ebml.ts';
import { formatOfIsoBmff } from '#worker-image/engine/identify/iso-bmff.ts';
import { formatOfMpegAudio } from '#worker-image/engine/identify/mpeg-audio.ts';
import { formatOfOgg } from '#worker-image/engine/identify/ogg.ts';
import { formatOfOle2 } from '#worker-image/engine/identify/ole2.ts';
import { formatOfRiff } from '#worker-image/engine/identify/riff.ts';
import { refuseLaterSignature, refuseSignature } from '#worker-image/engine/identify/signatures.ts';
import type { SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { formatOfText, textFormatOfName } from '#worker-image/engine/identify/text.ts';
import { formatOfTiff } from '#worker-image/engine/identify/tiff.ts';
import { unidentified } from '#worker-image/engine/identify/unsupported.ts';
import { formatOfZip } from '#worker-image/engine/identify/zip.ts';

type FormatRule = (file: SniffedFile) => Format | null | Promise<Format | null>;

/** The rules in order: formats with a signature, beginning with the most frequent ones, then probable ones, then text. */
const RULES: readonly FormatRule[] = [
  ({ head }) => formatOfSignature(head),
  ({ head }) => refuseSignature(head),
  textByName,
  ({ head }) => formatOfRiff(head),
  ({ head }) => formatOfEbml(head),
  ({ head }) => formatOfOgg(head),
  formatOfAsf,
  formatOfZip,
  formatOfOle2,
  formatOfTiff,
  ({ head }) => refuseLaterSignature(head),
  formatOfIsoBmff,
  ({ head }) => formatOfBmp(head),
  formatOfMpegAudio,
  pdfWithinFirstBytes,
  formatOfText,
];

/** Pairs of formats that share a container and its extension: a name for the other one is no disagreement. */
const SHARED_NAMES: readonly (readonly [Format, Format])[] = [
  ['ogg', 'opus'],
  ['mp4', 'm4v'],
  ['ttf', 'otf'],
];

/**
 * Returns the type of a file by its content; the name only distinguishes what the content cannot. Reads the start, the
 * end and the directory of the file, never the whole.
 * @throws MediaError unsupported_input; processing_failed for an encrypted document, a damaged package and one that
 *   unpacks to more than an office document does.
 */
export async function identify({ path, filename }: { path: string; filename: string | null }): Promise<Identified> {
  const format = await withFileReader(path, (file) => firstFormat({ ...file, filename }));
  return { kind: FORMATS[format].kind, format, warning: nameWarning(format, filename) };
}

async function firstFormat(file: SniffedFile): Promise<Format> {
  if (file.size === 0)
    throw new MediaError('unsupported_input', 'The file is empty: it has 0 bytes. Send a file with content.');
  for (const rule of RULES) {
    const format = await rule(file);
    if (format !== null) return format;
  }
  throw unidentified();
}

/** Recognizes named text before the types whose marks are printable characters, such as `RIFF`, which a text may contain. */
async function textByName(file: SniffedFile): Promise<Format | null> {
  const named = textFormatOfName(file.filename);
  return named !== null && possibleKinds(file.head).includes(FORMATS[named].kind) && !file.head.includes(0)
    ? formatOfText(file)
    : null;
}

/** Accepts a PDF whose header is anywhere in the first 1,024 bytes, as PDF readers do. */
function pdfWithinFirstBytes({ head }: SniffedFile): Format | null {
  return head.subarray(0, 1024).includes('%PDF-') ? 'pdf' : null;
}

function nameWarning(format: Format, filename: string | null): string | null {
  const named = formatOfName(filename);
  if (named === null || named === format) return null;
  if (SHARED_NAMES.some((pair) => pair.includes(named) && pair.includes(format))) return null;
  return `The file name indicates ${named}, but its content is ${format}: it was processed as ${format}.`;
}
