/** Colors that a HEIC or AVIF file names by numbers. Source: ISO/IEC 14496-12, 12.1.5; ISO/IEC 23008-12, 6.5.5. */
import { FULL_BOX, primaryItem, readBoxes, readItemProperties } from '#worker-image/engine/containers/heif-items.ts';
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { readTopBoxes, type IsoBox } from '#worker-image/engine/containers/iso-boxes.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Numbers of ITU-T H.273. */
export interface ColorNumbers {
  readonly primaries: number;
  readonly transfer: number;
}

const UNSPECIFIED: ColorNumbers = { primaries: 2, transfer: 2 };

/** Returns the colors of the primary image, or of all images that name some when they agree; else unspecified ones. */
export async function readNclx(heif: FileReader): Promise<ColorNumbers> {
  const meta = (await readTopBoxes(heif)).find(({ type }) => type === 'meta');
  if (meta === undefined) return UNSPECIFIED;
  try {
    return findNclx(await heif.read(meta.body, meta.end - meta.body)) ?? UNSPECIFIED;
  } catch (error) {
    // The decoder refuses such a file.
    if (error instanceof MediaError || error instanceof RangeError) return UNSPECIFIED;
    throw error;
  }
}

/** @param meta The content of the `meta` box. */
function findNclx(meta: Buffer): ColorNumbers | null {
  const range = { body: 0, end: meta.length };
  const primary = primaryItem(meta, range);
  const propertiesOf = readItemProperties(meta, range);
  if (primary === null || propertiesOf === null) return null;
  const own = propertiesOf(primary).flatMap(({ box }) => numbersIn(meta, box));
  const all = readBoxes(meta, FULL_BOX, meta.length)
    .filter(({ type }) => type === 'iprp')
    .flatMap(({ body, end }) => readBoxes(meta, body, end))
    .filter(({ type }) => type === 'ipco')
    .flatMap(({ body, end }) => readBoxes(meta, body, end))
    .flatMap((box) => numbersIn(meta, box));
  const agrees = new Set(all.map(({ primaries, transfer }) => `${primaries}/${transfer}`)).size === 1;
  return own[0] ?? (agrees ? all[0] : null) ?? null;
}

/** Bytes of the type of colors and of its first two numbers. */
const NUMBERS_END = 8;

function numbersIn(meta: Buffer, { type, body, end }: IsoBox): ColorNumbers[] {
  const isNclx = type === 'colr' && end - body >= NUMBERS_END && meta.toString('latin1', body, body + 4) === 'nclx';
  return isNclx ? [{ primaries: meta.readUInt16BE(body + 4), transfer: meta.readUInt16BE(body + 6) }] : [];
}
