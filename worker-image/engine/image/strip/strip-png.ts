/** Removes metadata from a PNG chunk by chunk; animation and everything that colors depend on stay. */
import {
  makePngChunk,
  PNG_SIGNATURE,
  readPngChunks,
  type PngChunk,
} from '#worker-image/engine/containers/png-chunks.ts';
import { makeOrientationTiff, readOrientation, UPRIGHT } from '#worker-image/engine/image/strip/orientation-exif.ts';
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';

const KEPT_EXTRAS: ReadonlySet<string> = new Set(
  'tRNS cHRM gAMA iCCP sBIT sRGB cICP mDCV cLLI mDCv cLLi bKGD hIST pHYs sPLT acTL fcTL fdAT'.split(' '),
);

/** Returns the file without metadata. @throws MediaError processing_failed when the chunks do not lead to the end chunk. */
export function stripPng(file: Buffer): Buffer {
  const chunks = readPngChunks(file);
  if (chunks === null) throw brokenFile('PNG', 'its end chunk is missing');
  const exif = chunks.find(({ type }) => type === 'eXIf');
  const orientation = exif === undefined ? UPRIGHT : readOrientation(exif.data);
  const kept = chunks.filter(isKept).map(({ whole }) => whole);
  if (orientation !== UPRIGHT) kept.splice(1, 0, makePngChunk('eXIf', makeOrientationTiff(orientation)));
  return Buffer.concat([PNG_SIGNATURE, ...kept]);
}

/** Returns whether a chunk is kept. A type with a capital first letter is needed to show the image. */
function isKept({ type }: PngChunk): boolean {
  return /^[A-Z]/.test(type) || KEPT_EXTRAS.has(type);
}
