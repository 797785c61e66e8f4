/** Boxes of an ISO base media file and the items that its `meta` box lists (ISO 14496-12, 8.11). */
import { parseBoxes, type IsoBox } from '#worker-image/engine/containers/iso-boxes.ts';
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';

export interface Extent {
  readonly start: number;
  readonly end: number;
}

export interface Item {
  readonly id: number;
  readonly type: string;
  /** Offset of the byte whose lowest bit hides the item. */
  readonly flagsAt: number;
  readonly extents: readonly Extent[];
}

export interface Reference {
  readonly type: string;
  readonly box: IsoBox;
  readonly from: number;
  readonly to: readonly number[];
}

export interface ItemTable {
  readonly items: readonly Item[];
  readonly references: readonly Reference[];
  readonly properties: readonly IsoBox[];
}

interface Association {
  /** Number of the property, from 1. */
  readonly index: number;
  readonly isEssential: boolean;
}

/** A property of an item (ISO 23008-12, 6.5). */
export interface ItemProperty {
  readonly box: IsoBox;
  /** True when a reader that does not know the property must not show the item. */
  readonly isEssential: boolean;
}

/** Length of version and flags, in bytes. */
export const FULL_BOX = 4;

/** Returns the boxes directly inside a range. @throws MediaError processing_failed when a box exceeds its container. */
export function readBoxes(file: Buffer, start: number, end: number): readonly IsoBox[] {
  const { boxes, fault } = parseBoxes(file, start, end);
  if (fault !== null) throw brokenFile('HEIF', fault);
  return boxes;
}

/** Returns the items that `meta` lists. @throws MediaError processing_failed when a table is truncated. */
export function readItems(file: Buffer, meta: Pick<IsoBox, 'body' | 'end'>): ItemTable {
  const boxes = readBoxes(file, meta.body + FULL_BOX, meta.end);
  const child = (type: string): IsoBox | undefined => boxes.find((box) => box.type === type);
  const names = child('iinf');
  const locationTable = child('iloc');
  return refuseTruncated(() => {
    const locations =
      locationTable === undefined ? new Map<number, Extent[]>() : readLocations(file, locationTable, child('idat'));
    const items = names === undefined ? [] : readNames(file, names);
    return {
      items: items.map((item) => ({ ...item, extents: locations.get(item.id) ?? [] })),
      references: readReferences(file, child('iref')),
      properties: readProperties(file, child('iprp')),
    };
  });
}

/**
 * Verifies that each item has few extents, and that each extent takes bytes of the table.
 * @param table Content of an `iloc` box. @throws MediaError processing_failed otherwise, and when the table is truncated.
 */
export function verifyLocations(table: Buffer): void {
  refuseTruncated(() => readLocations(table, { body: 0 }, undefined));
}

function refuseTruncated<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw brokenFile('HEIF', 'a table of items is truncated');
    throw error;
  }
}

/** Returns the id of the image that a reader shows; null when the file names none. @throws RangeError when truncated. */
export function primaryItem(file: Buffer, meta: Pick<IsoBox, 'body' | 'end'>): number | null {
  const box = readBoxes(file, meta.body + FULL_BOX, meta.end).find(({ type }) => type === 'pitm');
  if (box === undefined) return null;
  return file[box.body] === 0 ? file.readUInt16BE(box.body + FULL_BOX) : file.readUInt32BE(box.body + FULL_BOX);
}

function readNames(file: Buffer, names: IsoBox): Omit<Item, 'extents'>[] {
  const wide = file[names.body] !== 0;
  return readBoxes(file, names.body + FULL_BOX + (wide ? 4 : 2), names.end)
    .filter((box) => box.type === 'infe' && (file[box.body] ?? 0) >= 2)
    .map((box) => {
      const wideId = file[box.body] === 3;
      const at = box.body + FULL_BOX;
      const afterId = at + (wideId ? 4 : 2);
      return {
        id: wideId ? file.readUInt32BE(at) : file.readUInt16BE(at),
        type: file.toString('latin1', afterId + 2, afterId + 6),
        flagsAt: box.body + 3,
      };
    });
}

function readReferences(file: Buffer, iref: IsoBox | undefined): Reference[] {
  if (iref === undefined) return [];
  const idBytes = file[iref.body] === 0 ? 2 : 4;
  return readBoxes(file, iref.body + FULL_BOX, iref.end).map((box) => {
    const reader = cursor(file, box.body);
    const from = reader.take(idBytes);
    return { type: box.type, box, from, to: Array.from({ length: reader.take(2) }, () => reader.take(idBytes)) };
  });
}

function readProperties(file: Buffer, iprp: IsoBox | undefined): readonly IsoBox[] {
  if (iprp === undefined) return [];
  const list = readBoxes(file, iprp.body, iprp.end).find(({ type }) => type === 'ipco');
  return list === undefined ? [] : readBoxes(file, list.body, list.end);
}

/**
 * Returns a function that finds the properties of an item by its id, in the order in which they apply; null when the file
 * has no table of them. @throws RangeError when the table is truncated.
 */
export function readItemProperties(
  file: Buffer,
  meta: Pick<IsoBox, 'body' | 'end'>,
): ((id: number) => ItemProperty[]) | null {
  const iprp = readBoxes(file, meta.body + FULL_BOX, meta.end).find((box) => box.type === 'iprp');
  const ipma = iprp && readBoxes(file, iprp.body, iprp.end).find((box) => box.type === 'ipma');
  if (ipma === undefined) return null;
  const [properties, associations] = [readProperties(file, iprp), readAssociations(file, ipma)];
  return (id) =>
    (associations.get(id) ?? []).flatMap(({ index, isEssential }) => {
      const box = properties[index - 1];
      return box === undefined ? [] : [{ box, isEssential }];
    });
}

/** Returns the associations by item id. Source: ISO 23008-12, 9.3. */
function readAssociations(file: Buffer, ipma: IsoBox): Map<number, Association[]> {
  const idBytes = file[ipma.body] === 0 ? 2 : 4;
  const indexBytes = ((file[ipma.body + 3] ?? 0) & 1) + 1;
  const essential = 2 ** (8 * indexBytes - 1);
  const reader = cursor(file, ipma.body + FULL_BOX);
  const associations = new Map<number, Association[]>();
  for (let left = reader.take(4); left > 0; left -= 1) {
    const id = reader.take(idBytes);
    const marks = Array.from({ length: reader.take(1) }, () => reader.take(indexBytes));
    associations.set(
      id,
      marks.map((mark) => ({ index: mark % essential, isEssential: mark >= essential })),
    );
  }
  return associations;
}

/** Sequential reader of the numbers of a table. */
interface TableReader {
  at: number;
  take(bytes: number): number;
}

function cursor(file: Buffer, start: number): TableReader {
  return {
    at: start,
    take(bytes) {
      this.at += bytes;
      if (bytes === 0) return 0;
      return bytes === 8 ? Number(file.readBigUInt64BE(this.at - 8)) : file.readUIntBE(this.at - bytes, bytes);
    },
  };
}

interface ExtentLayout {
  readonly base: number;
  readonly indexBytes: number;
  readonly offsetBytes: number;
  readonly lengthBytes: number;
  /** Length of the file. */
  readonly end: number;
}

/** Maximum number of extents of an item, as in libheif. */
const MAX_EXTENTS = 32;

function readExtents(reader: TableReader, { base, indexBytes, offsetBytes, lengthBytes, end }: ExtentLayout): Extent[] {
  const extents: Extent[] = [];
  const count = reader.take(2);
  if (count > MAX_EXTENTS) throw brokenFile('HEIF', `an item has ${count} extents, of which ${MAX_EXTENTS} are read`);
  if (count > 0 && indexBytes + offsetBytes + lengthBytes === 0) throw brokenFile('HEIF', 'its extents have no width');
  for (let left = count; left > 0; left -= 1) {
    reader.take(indexBytes);
    const start = base + reader.take(offsetBytes);
    extents.push({ start, end: Math.min(end, start + reader.take(lengthBytes)) });
  }
  return extents;
}

function readLocations(file: Buffer, iloc: Pick<IsoBox, 'body'>, idat: IsoBox | undefined): Map<number, Extent[]> {
  const version = file[iloc.body] ?? 0;
  const reader = cursor(file, iloc.body + FULL_BOX);
  const sizes = reader.take(2);
  const [offsetBytes, lengthBytes, baseBytes, indexBytes] = [
    sizes >> 12,
    (sizes >> 8) & 15,
    (sizes >> 4) & 15,
    sizes & 15,
  ];
  const locations = new Map<number, Extent[]>();
  const idBytes = version < 2 ? 2 : 4;
  for (let left = reader.take(idBytes); left > 0; left -= 1) {
    const id = reader.take(idBytes);
    const method = version === 0 ? 0 : reader.take(2) & 15;
    reader.take(2);
    const base = reader.take(baseBytes) + (method === 1 ? (idat?.body ?? 0) : 0);
    const extents = readExtents(reader, {
      base,
      indexBytes: version > 0 ? indexBytes : 0,
      offsetBytes,
      lengthBytes,
      end: file.length,
    });
    // With method 2 offsets are relative to another item's data: such an item has no bytes of its own.
    if (method < 2) locations.set(id, extents);
  }
  return locations;
}
