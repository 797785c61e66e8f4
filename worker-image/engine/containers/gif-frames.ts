/**
 * Frames of a GIF, as its blocks describe them and as browsers show them. Files that browsers show in different ways are
 * refused. Source: GIF89a Specification, CompuServe, 1990.
 */
import {
  colorTableBytes,
  endOfScreen,
  gifBlocks,
  IMAGE_HEADER_BYTES,
} from '#worker-image/engine/containers/gif-blocks.ts';
import { decodeGifPixels, makePixelTarget } from '#worker-image/engine/containers/gif-pixels.ts';

export interface GifAnimation {
  /** Size of the logical screen, in pixels. */
  readonly width: number;
  readonly height: number;
  /** Repetitions, 0 for endless; null when the file names none. */
  readonly loop: number | null;
  readonly frames: readonly GifFrame[];
}

export interface GifFrame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** Time that the frame is shown, in hundredths of a second. */
  readonly delay: number;
  /** What becomes of the frame afterwards. */
  readonly disposal: number;
  readonly isInterlaced: boolean;
  /** Colors by index, as RGBA in memory order: `TRANSPARENT`, `UNDEFINED` or opaque. */
  readonly colors: Uint32Array;
  /** Byte of the smallest code size. */
  readonly data: number;
}

const TRANSPARENT = 0;
/** Color of an index without an entry in the color table: decoders differ, so it equals no other color. */
const UNDEFINED = 1;
const OPAQUE = 0xff00_0000;
const COLORS = 256;
const [CLEARED, RESTORED] = [2, 3];
const SCREEN_AT = { width: 6, height: 8, colors: 13 } as const;
const CONTROL_BYTES = 8;
const LOOP_NAMES: ReadonlySet<string> = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0']);
const LOOP_BYTES = 19;

/**
 * Reads the frames without their pixels.
 * @throws MediaError processing_failed for a broken file. @throws Error for a file that browsers show in different ways: with
 * text blocks, frames beyond the screen, no colors or an unknown disposal. @throws Error for more frames than `maxFrames`: a
 * file may hold millions of empty ones.
 */
export function readGifFrames(file: Buffer, maxFrames: number): GifAnimation {
  const colorTable = file.subarray(SCREEN_AT.colors, endOfScreen(file));
  const screen = { width: file.readUInt16LE(SCREEN_AT.width), height: file.readUInt16LE(SCREEN_AT.height) };
  const frames: GifFrame[] = [];
  let loop: number | null = null;
  let control: Buffer | null = null;
  for (const { kind, start, end } of gifBlocks(file)) {
    const block = file.subarray(start, end);
    if (kind === 'text') throw new Error('The GIF has a text block.');
    if (kind === 'control') control = block;
    if (kind === 'application') loop = readLoop(block) ?? loop;
    if (kind !== 'image') continue;
    if (frames.length === maxFrames) throw new Error(`The GIF has more than ${maxFrames} frames.`);
    frames.push(readFrame(block, { screen, colorTable, control, start }));
    control = null;
  }
  if (frames.length === 0) throw new Error('The GIF has no frame.');
  return { ...screen, loop, frames };
}

function readLoop(block: Buffer): number | null {
  const names = block.length === LOOP_BYTES && LOOP_NAMES.has(block.toString('latin1', 3, 14));
  return names && block[15] === 1 ? block.readUInt16LE(16) : null;
}

interface Surroundings {
  readonly screen: { readonly width: number; readonly height: number };
  /** Colors of the file. */
  readonly colorTable: Buffer;
  /** Graphic control before the image; null for none. */
  readonly control: Buffer | null;
  readonly start: number;
}

function readFrame(block: Buffer, { screen, colorTable, control, start }: Surroundings): GifFrame {
  const [left = 0, top = 0, width = 0, height = 0] = [1, 3, 5, 7].map((at) => block.readUInt16LE(at));
  if (left + width > screen.width || top + height > screen.height)
    throw new Error('The GIF has a frame beyond its screen.');
  const flags = block[9] ?? 0;
  const data = IMAGE_HEADER_BYTES + colorTableBytes(flags);
  const own = block.subarray(IMAGE_HEADER_BYTES, data);
  const colors = readColors(own.length === 0 ? colorTable : own);
  const shown = { left, top, width, height, isInterlaced: (flags & 0x40) !== 0, colors, data: start + data };
  return { ...shown, ...readControl(control, colors) };
}

/** Returns delay and disposal, and makes the transparent color transparent. */
function readControl(control: Buffer | null, colors: Uint32Array): Pick<GifFrame, 'delay' | 'disposal'> {
  if (control === null) return { delay: 0, disposal: 0 };
  if (control.length !== CONTROL_BYTES) throw new Error('The GIF has a graphic control of another size.');
  const flags = control[3] ?? 0;
  const disposal = (flags >> 2) & 7;
  if (disposal > RESTORED) throw new Error(`The GIF has the unknown disposal ${disposal}.`);
  if ((flags & 1) !== 0) colors[control[6] ?? 0] = TRANSPARENT;
  return { delay: control.readUInt16LE(4), disposal };
}

function readColors(table: Buffer): Uint32Array {
  if (table.length === 0) throw new Error('The GIF has a frame without colors.');
  return Uint32Array.from({ length: COLORS }, (_, index) =>
    3 * index < table.length ? (OPAQUE | table.readUIntLE(3 * index, 3)) >>> 0 : UNDEFINED,
  );
}

/**
 * Yields the logical screen as each frame shows it, as RGBA. The memory is reused: it holds a frame until the next one.
 * @throws Error for pixels that cannot be decoded.
 */
export function* shownFrames(file: Buffer, { width, height, frames }: GifAnimation): Generator<Buffer> {
  let screen = new Uint32Array(width * height);
  const pixels = makePixelTarget(width * height);
  for (const frame of frames) {
    decodeGifPixels(file, frame.data, pixels, frame.width * frame.height);
    const before = frame.disposal === RESTORED ? screen.slice() : screen;
    draw(screen, width, frame, pixels);
    yield Buffer.from(screen.buffer);
    screen = before;
    if (frame.disposal === CLEARED) clear(screen, width, frame);
  }
}

function draw(screen: Uint32Array, screenWidth: number, frame: GifFrame, pixels: Uint8Array): void {
  const { left, top, width, height, isInterlaced, colors } = frame;
  const rows = isInterlaced ? interlacedRows(height) : Array.from({ length: height }, (_, row) => row);
  let from = 0;
  for (const row of rows) {
    const start = (top + row) * screenWidth + left;
    for (let to = start; to < start + width; to += 1, from += 1) {
      const color = colors[pixels[from] ?? 0] ?? TRANSPARENT;
      if (color !== TRANSPARENT) screen[to] = color;
    }
  }
}

/** First row and distance of the rows of each pass. */
const PASSES = [
  [0, 8],
  [4, 8],
  [2, 4],
  [1, 2],
] as const;

function interlacedRows(height: number): number[] {
  return PASSES.flatMap(([first, step]) => {
    const count = Math.max(0, Math.ceil((height - first) / step));
    return Array.from({ length: count }, (_, index) => first + index * step);
  });
}

function clear(screen: Uint32Array, screenWidth: number, { left, top, width, height }: GifFrame): void {
  for (let row = top; row < top + height; row += 1) {
    const start = row * screenWidth + left;
    screen.fill(TRANSPARENT, start, start + width);
  }
}
