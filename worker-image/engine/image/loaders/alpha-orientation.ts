/**
 * HEIC and AVIF whose transparency libheif combines wrongly. It transforms image and transparency each on its own and then
 * stretches one to the size of the other, where browsers combine them first. Of colors that are multiplied with the
 * transparency it leaves the division to its caller, and libvips does not divide.
 */
import { MediaError } from '#crds/contract/media-error.ts';
import { readTopBoxes } from '#worker-image/engine/containers/iso-boxes.ts';
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { withImageErrors } from '#worker-image/engine/image/libvips-picture.ts';
import { primaryItem, readItemProperties, readItems } from '#worker-image/engine/containers/heif-items.ts';

/** Properties that rotate, mirror or crop, with their length in bytes (ISO 23008-12, 6.5.9, 6.5.10, 6.5.12). */
const TRANSFORMS: ReadonlyMap<string, number> = new Map([
  ['irot', 1],
  ['imir', 1],
  ['clap', 32],
]);
/** A rotation by 0 degrees. */
const NO_ROTATION = 'irot\0';
/** Types of an auxiliary image that is the transparency, with AV1 and with HEVC. */
const ALPHA_TYPE = /auxiliary:alpha|auxid:1(?!\d)/;

/** Returns the error for transparency in another orientation, multiplied colors, or boxes that do not nest; else null. */
export async function findAlphaFault(heif: FileReader): Promise<Error | null> {
  try {
    return await withImageErrors('Reading the image', () => faultOf(heif));
  } catch (error) {
    if (error instanceof MediaError) return error;
    throw error;
  }
}

async function faultOf(heif: FileReader): Promise<MediaError | null> {
  const box = (await readTopBoxes(heif)).find(({ type }) => type === 'meta');
  if (box === undefined) return null;
  const meta = await heif.read(box.body, box.end - box.body);
  if (isPremultiplied(meta)) return premultiplied();
  return transformsDiffer(meta) ? transformedAlpha() : null;
}

/** @param bytes The content of the `meta` box. */
function isPremultiplied(bytes: Buffer): boolean {
  const meta = { body: 0, end: bytes.length };
  const image = primaryItem(bytes, meta);
  return readItems(bytes, meta).references.some(({ type, from }) => type === 'prem' && from === image);
}

/** @param bytes The content of the `meta` box. */
function transformsDiffer(bytes: Buffer): boolean {
  const meta = { body: 0, end: bytes.length };
  const image = primaryItem(bytes, meta);
  const propertiesOf = readItemProperties(bytes, meta);
  if (image === null || propertiesOf === null) return false;
  const describe = (id: number): DescribedProperty[] =>
    propertiesOf(id).map(({ box }) => ({ type: box.type, content: bytes.toString('latin1', box.body, box.end) }));
  const transforms = transformsOf(describe(image));
  return readItems(bytes, meta)
    .references.filter(({ type, to }) => type === 'auxl' && to.includes(image))
    .map(({ from }) => describe(from))
    .some((auxiliary) => isAlpha(auxiliary) && transformsOf(auxiliary) !== transforms);
}

interface DescribedProperty {
  readonly type: string;
  readonly content: string;
}

function isAlpha(properties: readonly DescribedProperty[]): boolean {
  return properties.some(({ type, content }) => type === 'auxC' && ALPHA_TYPE.test(content));
}

/** Returns a key that is equal for items with the same transforms. */
function transformsOf(properties: readonly DescribedProperty[]): string {
  return properties
    .filter(({ type }) => TRANSFORMS.has(type))
    .map(({ type, content }) => type + content.slice(0, TRANSFORMS.get(type)))
    .filter((transform) => transform !== NO_ROTATION)
    .join('');
}

function premultiplied(): MediaError {
  return new MediaError(
    'processing_failed',
    'The colors of the image are stored multiplied with its transparency, which is not supported. Open it in an image editor, save it as PNG or AVIF without premultiplied alpha and send that.',
  );
}

function transformedAlpha(): MediaError {
  return new MediaError(
    'processing_failed',
    'The transparency of the image is not rotated or cropped like the image itself: programs show such a file differently. Open it in an image editor, save it as PNG or AVIF and send that.',
  );
}
