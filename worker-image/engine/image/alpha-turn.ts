/**
 * HEIC and AVIF whose transparency is not turned and cut like the picture. The image library turns and cuts each by
 * itself and then stretches one over the other, where browsers lay one over the other first.
 */
import type { Metadata } from 'sharp';
import { MediaError } from '#crds/media-error.ts';
import type { Work } from '#worker-image/engine/handler.ts';
import { imageStep } from '#worker-image/engine/image/image-step.ts';
import {
  FULL_BOX,
  readBoxes,
  readItemProperties,
  readItems,
  type Box,
} from '#worker-image/engine/image/strip/heif-items.ts';
import { boxesOf } from '#worker-image/engine/identify/iso-bmff.ts';
import { withSniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';

/** Properties that turn, mirror or cut, with their bytes (ISO 23008-12, 6.5.9, 6.5.10, 6.5.12). */
const TURNS: ReadonlyMap<string, number> = new Map([
  ['irot', 1],
  ['imir', 1],
  ['clap', 32],
]);
/** A turn by no degrees. */
const UPRIGHT = 'irot\0';
/** How an auxiliary picture that is the transparency is called, with AV1 and with HEVC. */
const ALPHA_NAME = /auxiliary:alpha|auxid:1(?!\d)/;

/**
 * Does nothing for other formats and for pictures without transparency.
 * @throws MediaError processing_failed for such a file, and for one whose boxes do not nest.
 */
export async function refuseTurnedAlpha({ path, format }: Work['input'], { hasAlpha }: Metadata): Promise<void> {
  if (!hasAlpha || (format !== 'avif' && format !== 'heic')) return;
  if (!(await imageStep('Reading the image', () => hasTurnedAlpha(path)))) return;
  throw new MediaError(
    'processing_failed',
    'The transparency of the picture is not turned or cut like the picture itself: programs show such a file in different ways. Open it in an image program, save it as PNG or AVIF and send that.',
  );
}

async function hasTurnedAlpha(path: string): Promise<boolean> {
  const meta = await withSniffedFile({ path, filename: null }, async (file) => {
    const box = (await boxesOf(file)).find(({ type }) => type === 'meta');
    return box === undefined ? null : file.read(box.start, box.end - box.start);
  });
  return meta !== null && turnsDiffer(meta);
}

/** @param bytes - What the `meta` box holds. */
function turnsDiffer(bytes: Buffer): boolean {
  const meta = { type: 'meta', start: 0, body: 0, end: bytes.length };
  const primary = readBoxes(bytes, FULL_BOX, bytes.length).find(({ type }) => type === 'pitm');
  const propertiesOf = readItemProperties(bytes, meta);
  if (primary === undefined || propertiesOf === null) return false;
  const describe = (id: number): Property[] =>
    propertiesOf(id).map(({ box }) => ({ type: box.type, content: bytes.toString('latin1', box.body, box.end) }));
  const picture = itemIn(bytes, primary);
  const turns = turnsOf(describe(picture));
  return readItems(bytes, meta)
    .references.filter(({ type, to }) => type === 'auxl' && to.includes(picture))
    .map(({ from }) => describe(from))
    .some((auxiliary) => isAlpha(auxiliary) && turnsOf(auxiliary) !== turns);
}

interface Property {
  readonly type: string;
  readonly content: string;
}

function itemIn(meta: Buffer, { body }: Box): number {
  return meta[body] === 0 ? meta.readUInt16BE(body + FULL_BOX) : meta.readUInt32BE(body + FULL_BOX);
}

function isAlpha(properties: readonly Property[]): boolean {
  return properties.some(({ type, content }) => type === 'auxC' && ALPHA_NAME.test(content));
}

/** Equal for what is turned and cut alike. */
function turnsOf(properties: readonly Property[]): string {
  return properties
    .filter(({ type }) => TURNS.has(type))
    .map(({ type, content }) => type + content.slice(0, TURNS.get(type)))
    .filter((turn) => turn !== UPRIGHT)
    .join('');
}
