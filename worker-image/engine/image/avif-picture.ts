import {
  readBoxes,
  readItemProperties,
  readItems,
  type Box,
  type Item,
} from '#worker-image/engine/image/strip/heif-items.ts';

/** A property of an item (ISO 23008-12, 6.5) with its box header. */
export interface Property {
  readonly type: string;
  readonly bytes: Buffer;
  /** A reader that does not know it must not show the item. */
  readonly isEssential: boolean;
}

/** The picture, or its transparency. */
interface Layer {
  readonly data: Buffer;
  readonly properties: readonly Property[];
}

export interface AvifPicture {
  readonly ftyp: Buffer;
  readonly layers: readonly Layer[];
  /** EXIF and XMP: the item's type with what follows it in the list of items, and its bytes. */
  readonly metadata: readonly { readonly entry: Buffer; readonly data: Buffer }[];
}

/** Version, flags, id and protection stand before the type. */
const BEFORE_TYPE = 8;
const METADATA: ReadonlySet<string> = new Set(['Exif', 'mime']);

/**
 * Takes an AVIF apart that the image library wrote: one picture of one frame, its transparency behind it.
 * @throws Error when it is not built like that.
 */
export function readAvifPicture(file: Buffer): AvifPicture {
  const boxes = readBoxes(file, 0, file.length);
  const meta = need(boxes, 'meta');
  const { items } = readItems(file, meta);
  const propertiesOf = readItemProperties(file, meta);
  if (propertiesOf === null) throw new Error('An AVIF of the image library names no properties.');
  const dataOf = ({ extents }: Item): Buffer =>
    Buffer.concat(extents.map(({ start, end }) => file.subarray(start, end)));
  const layerOf = (item: Item): Layer => ({
    data: dataOf(item),
    properties: propertiesOf(item.id).map(({ box, isEssential }) => {
      return { type: box.type, bytes: file.subarray(box.start, box.end), isEssential };
    }),
  });
  const ftyp = need(boxes, 'ftyp');
  return {
    ftyp: file.subarray(ftyp.start, ftyp.end),
    layers: items.filter(({ type }) => type === 'av01').map(layerOf),
    metadata: items
      .filter(({ type }) => METADATA.has(type))
      .map((item) => ({ entry: entryOf(file, item), data: dataOf(item) })),
  };
}

function need(boxes: readonly Box[], type: string): Box {
  const box = boxes.find((one) => one.type === type);
  if (box === undefined) throw new Error(`An AVIF of the image library has no box ${type}.`);
  return box;
}

function entryOf(file: Buffer, { flagsAt }: Item): Buffer {
  const body = flagsAt - 3;
  return file.subarray(body + BEFORE_TYPE, body - 8 + file.readUInt32BE(body - 8));
}
