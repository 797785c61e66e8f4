import type { IsoBox } from '#worker-image/engine/containers/iso-boxes.ts';
import { readBoxes, readItemProperties, readItems, type Item } from '#worker-image/engine/containers/heif-items.ts';

/** A property of an item with its box header (ISO 23008-12, 6.5). */
export interface AvifProperty {
  readonly type: string;
  readonly bytes: Buffer;
  /** A reader that does not know it must not show the item. */
  readonly isEssential: boolean;
}

/** The color image or its transparency. */
interface AvifLayer {
  readonly data: Buffer;
  readonly properties: readonly AvifProperty[];
}

export interface ParsedAvif {
  readonly ftyp: Buffer;
  readonly layers: readonly AvifLayer[];
  /** EXIF and XMP: the item's entry in the list of items, from its type on, and its bytes. */
  readonly metadata: readonly { readonly entry: Buffer; readonly data: Buffer }[];
}

/** Bytes of version, flags, id and protection, which precede the type. */
const BEFORE_TYPE = 8;
const METADATA: ReadonlySet<string> = new Set(['Exif', 'mime']);

/**
 * Parses a still AVIF written by libvips into color item, alpha item and metadata items.
 * @throws Error when it has another structure.
 */
export function parseAvif(file: Buffer): ParsedAvif {
  const boxes = readBoxes(file, 0, file.length);
  const meta = requireBox(boxes, 'meta');
  const { items } = readItems(file, meta);
  const propertiesOf = readItemProperties(file, meta);
  if (propertiesOf === null) throw new Error('An AVIF of libvips lists no properties.');
  const dataOf = ({ extents }: Item): Buffer =>
    Buffer.concat(extents.map(({ start, end }) => file.subarray(start, end)));
  const layerOf = (item: Item): AvifLayer => ({
    data: dataOf(item),
    properties: propertiesOf(item.id).map(({ box, isEssential }) => {
      return { type: box.type, bytes: file.subarray(box.start, box.end), isEssential };
    }),
  });
  const ftyp = requireBox(boxes, 'ftyp');
  return {
    ftyp: file.subarray(ftyp.start, ftyp.end),
    layers: items.filter(({ type }) => type === 'av01').map(layerOf),
    metadata: items
      .filter(({ type }) => METADATA.has(type))
      .map((item) => ({ entry: entryOf(file, item), data: dataOf(item) })),
  };
}

function requireBox(boxes: readonly IsoBox[], type: string): IsoBox {
  const box = boxes.find((one) => one.type === type);
  if (box === undefined) throw new Error(`An AVIF of libvips has no box ${type}.`);
  return box;
}

function entryOf(file: Buffer, { flagsAt }: Item): Buffer {
  const body = flagsAt - 3;
  return file.subarray(body + BEFORE_TYPE, body - 8 + file.readUInt32BE(body - 8));
}
