/**
 * AVIF grid images: tiles that are encoded one by one, so that the encoder's memory is bounded by a tile (ISO 23008-12,
 * 6.6.2.3; AV1 Image File Format, 4.2.1).
 */
import { parseAvif, type AvifProperty, type ParsedAvif } from '#worker-image/engine/image/encode/parse-avif.ts';
import { openTiff, readDirectoryAt, readFirstDirectory } from '#worker-image/engine/containers/tiff-in-memory.ts';

export interface TileLayout {
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
  /** Size of every tile, in pixels. Readers crop what exceeds the image. */
  readonly tileWidth: number;
  readonly tileHeight: number;
}

const MAX_TILE_SIDE = 2048;
/** Multiple of a tile's sides that every reader accepts, in pixels. */
const TILE_STEP = 64;

/** Returns equal tiles that cover an image. */
export function layTiles(width: number, height: number): TileLayout {
  const columns = Math.ceil(width / MAX_TILE_SIDE);
  const rows = Math.ceil(height / MAX_TILE_SIDE);
  const side = (whole: number, parts: number): number => Math.ceil(whole / parts / TILE_STEP) * TILE_STEP;
  return { width, height, columns, rows, tileWidth: side(width, columns), tileHeight: side(height, rows) };
}

/**
 * Returns the grid image as a file.
 * @param tiles Complete AVIF files with equal settings, row by row.
 * @param thumbnail A small AVIF of the same image; its profile, EXIF and XMP are copied.
 * @throws Error when one is not structured like an AVIF of libvips.
 */
export function writeAvifGrid(layout: TileLayout, tiles: readonly Buffer[], thumbnail: Buffer): Buffer {
  const parsed = tiles.map(parseAvif);
  const whole = parseAvif(thumbnail);
  if (parsed.length !== layout.columns * layout.rows) throw new Error(`The grid has ${parsed.length} tiles.`);
  if (parsed.some(({ layers }) => layers.length !== whole.layers.length))
    throw new Error('Some tiles of the grid are transparent and some are not.');
  const items = [
    ...whole.layers.flatMap((_, layer) => layerItems({ layout, parsed, whole }, layer)),
    ...whole.metadata.map(({ entry: item, data }) => ({
      entry: item,
      data: item.toString('latin1', 0, 4) === 'Exif' ? withExifDimensions(data, layout) : data,
      isHidden: false,
      properties: [],
      references: [{ type: 'cdsc', to: [PRIMARY_ID] }],
    })),
  ];
  const dataAt = whole.ftyp.length + metaBox(items, 0).length + BOX_HEADER;
  return Buffer.concat([whole.ftyp, metaBox(items, dataAt), box('mdat', ...items.map(({ data }) => data))]);
}

/** Item id of the color image. The ids of the other items follow in their order. */
const PRIMARY_ID = 1;
const BOX_HEADER = 8;
const HIDDEN = 1;
/** Properties of tiles that a grid does not have. */
const TILE_PROPERTIES: ReadonlySet<string> = new Set(['ispe', 'av1C']);

interface GridItem {
  /** The item's entry in the list of items, from its type on. */
  readonly entry: Buffer;
  readonly isHidden: boolean;
  readonly data: Buffer;
  readonly properties: readonly AvifProperty[];
  readonly references: readonly { readonly type: string; readonly to: readonly number[] }[];
}

interface ParsedGrid {
  readonly layout: TileLayout;
  readonly parsed: readonly ParsedAvif[];
  readonly whole: ParsedAvif;
}

/** Returns the grid item of one layer and its tiles. */
function layerItems({ layout, parsed, whole }: ParsedGrid, layer: number): GridItem[] {
  const id = PRIMARY_ID + layer * (parsed.length + 1);
  const described = whole.layers[layer]?.properties.filter(({ type }) => !TILE_PROPERTIES.has(type)) ?? [];
  const grid = {
    entry: Buffer.from('grid\0', 'latin1'),
    isHidden: false,
    data: Buffer.concat([
      Buffer.from([0, 1, layout.rows - 1, layout.columns - 1]),
      u32(layout.width),
      u32(layout.height),
    ]),
    properties: [sizeOf(layout), ...described],
    references: [
      { type: 'dimg', to: parsed.map((_, at) => id + 1 + at) },
      ...(layer === 0 ? [] : [{ type: 'auxl', to: [PRIMARY_ID] }]),
    ],
  };
  const tiles = parsed.map(({ layers }) => ({
    entry: Buffer.from('av01\0', 'latin1'),
    isHidden: true,
    data: layers[layer]?.data ?? Buffer.alloc(0),
    properties: layers[layer]?.properties ?? [],
    references: [],
  }));
  return [grid, ...tiles];
}

function sizeOf({ width, height }: TileLayout): AvifProperty {
  return { type: 'ispe', bytes: fullBox('ispe', 0, u32(width), u32(height)), isEssential: false };
}

/** @param dataAt Offset of the first item's bytes in the file. */
function metaBox(items: readonly GridItem[], dataAt: number): Buffer {
  return fullBox(
    'meta',
    0,
    fullBox('hdlr', 0, u32(0), Buffer.from('pict', 'latin1'), Buffer.alloc(13)),
    fullBox('pitm', 0, u16(PRIMARY_ID)),
    itemLocations(items, dataAt),
    fullBox('iinf', 0, u16(items.length), ...items.map(entry)),
    fullBox('iref', 0, ...items.flatMap(references)),
    properties(items),
  );
}

function itemLocations(items: readonly GridItem[], dataAt: number): Buffer {
  let at = dataAt;
  const rows = items.map(({ data }, index) => {
    const row = Buffer.concat([u16(index + PRIMARY_ID), u16(0), u16(1), u32(at), u32(data.length)]);
    at += data.length;
    return row;
  });
  // Four bytes each for offsets and lengths, none for a base.
  return fullBox('iloc', 0, u16(0x4400), u16(items.length), ...rows);
}

function entry(item: GridItem, index: number): Buffer {
  return fullBox('infe', (2 << 24) | (item.isHidden ? HIDDEN : 0), u16(index + PRIMARY_ID), u16(0), item.entry);
}

function references(item: GridItem, index: number): Buffer[] {
  return item.references.map(({ type, to }) => box(type, u16(index + PRIMARY_ID), u16(to.length), ...to.map(u16)));
}

/** Returns the properties box. Equal properties are written once. */
function properties(items: readonly GridItem[]): Buffer {
  const all: Buffer[] = [];
  const indexOf = ({ bytes }: AvifProperty): number => {
    const found = all.findIndex((one) => one.equals(bytes));
    return found < 0 ? all.push(bytes) : found + 1;
  };
  const rows = items.map((item, index) => {
    const marks = item.properties.map((property) => indexOf(property) | (property.isEssential ? 0x80 : 0));
    return Buffer.concat([u16(index + PRIMARY_ID), Buffer.from([marks.length, ...marks])]);
  });
  return box('iprp', box('ipco', ...all), fullBox('ipma', 0, u32(items.length), ...rows));
}

function fullBox(type: string, versionAndFlags: number, ...content: readonly Buffer[]): Buffer {
  return box(type, u32(versionAndFlags), ...content);
}

function box(type: string, ...content: readonly Buffer[]): Buffer {
  const size = content.reduce((sum, { length }) => sum + length, BOX_HEADER);
  return Buffer.concat([u32(size), Buffer.from(type, 'latin1'), ...content]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const EXIF_DIRECTORY = 0x8769;
const PIXEL_X_DIMENSION = 0xa002;
const PIXEL_Y_DIMENSION = 0xa003;
const OFFSET_BYTES = 4;

/** Returns a copy of the EXIF item of a HEIF with the given size in its dimension tags. Source: EXIF 2.32, 4.6.5. */
export function withExifDimensions(item: Buffer, { width, height }: { width: number; height: number }): Buffer {
  const copy = Buffer.from(item);
  const tiff = openTiff(copy.subarray(OFFSET_BYTES + copy.readUInt32BE(0)));
  const main = readFirstDirectory(tiff)?.entries.find(({ tag }) => tag === EXIF_DIRECTORY);
  if (main === undefined) return copy;
  for (const { tag, values } of readDirectoryAt(tiff, tiff.number(main.values.start, 4)).entries) {
    const size = tag === PIXEL_X_DIMENSION ? width : tag === PIXEL_Y_DIMENSION ? height : null;
    if (size !== null) tiff.writeNumber(size, values.start, values.end - values.start);
  }
  return copy;
}
