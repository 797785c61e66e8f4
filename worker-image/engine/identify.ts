import { FORMATS, formatOfName, type Format } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import type { Identified } from '#worker-image/engine/handler.ts';
import { formatOfAsf } from '#worker-image/engine/identify/asf.ts';
import { formatOfEbml } from '#worker-image/engine/identify/ebml.ts';
import { formatOfIsoBmff } from '#worker-image/engine/identify/iso-bmff.ts';
import { formatOfMpegAudio } from '#worker-image/engine/identify/mpeg-audio.ts';
import { formatOfOgg } from '#worker-image/engine/identify/ogg.ts';
import { formatOfOle2 } from '#worker-image/engine/identify/ole2.ts';
import { formatOfBmp, formatOfRiff } from '#worker-image/engine/identify/riff.ts';
import { formatOfSignature } from '#worker-image/engine/identify/signatures.ts';
import { withSniffedFile, type SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { formatOfText } from '#worker-image/engine/identify/text.ts';
import { formatOfTiff } from '#worker-image/engine/identify/tiff.ts';
import { unidentified } from '#worker-image/engine/identify/unsupported.ts';
import { formatOfZip } from '#worker-image/engine/identify/zip.ts';

type Rule = (file: SniffedFile) => Format | null | Promise<Format | null>;

/** In order: what has a mark of its own first, what is only probable after it, text at the end. */
const RULES: readonly Rule[] = [
  ({ head }) => formatOfRiff(head),
  ({ head }) => formatOfEbml(head),
  ({ head }) => formatOfOgg(head),
  formatOfAsf,
  formatOfZip,
  formatOfOle2,
  formatOfTiff,
  ({ head }) => formatOfSignature(head),
  formatOfIsoBmff,
  ({ head }) => formatOfBmp(head),
  formatOfMpegAudio,
  pdfBehindOtherBytes,
  formatOfText,
];

/** Formats that share a container and its extension: a name that says the other one is not wrong. */
const SAME_NAME: readonly (readonly [Format, Format])[] = [
  ['ogg', 'opus'],
  ['mp4', 'm4v'],
  ['ttf', 'otf'],
];

/**
 * Finds the type of a file by its content; the name only separates what the content cannot. Reads its
 * start, its end and its directory, never the whole.
 * @throws MediaError unsupported_input, or processing_failed for a document under a password and a
 * package that is damaged or a bomb. Spec: Errors / Codes.
 */
export function identify(file: { path: string; filename: string | null }): Promise<Identified> {
  return withSniffedFile(file, async (sniffed) => {
    const format = await firstFormat(sniffed);
    return { kind: FORMATS[format].kind, format, warning: disagreement(format, file.filename) };
  });
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

/** Readers accept a PDF whose header stands anywhere in the first 1,024 bytes. */
function pdfBehindOtherBytes({ head }: SniffedFile): Format | null {
  return head.subarray(0, 1024).includes('%PDF-') ? 'pdf' : null;
}

function disagreement(format: Format, filename: string | null): string | null {
  const named = formatOfName(filename);
  if (named === null || named === format) return null;
  if (SAME_NAME.some((pair) => pair.includes(named) && pair.includes(format))) return null;
  return `The file's name says ${named}, its content is ${format}: it was processed as ${format}.`;
}
