/** Writes a font of square dots. Source: the OpenType specification, one function per table. */
import { cffTable } from './cff-table.ts';
import { LETTERS } from './letters.ts';

const EM = 1000;
const DOT = 120;
const ADVANCE = 6 * DOT;
const ASCENT = 7 * DOT;
const DESCENT = -160;
const NAME = 'Dotwork';

interface Rectangle {
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
}

/** Returns a TTF file with capitals (also for small letters), digits and some marks. */
export function typeface(): Buffer {
  const glyphs = glyphsOf();
  const bodies = glyphs.map(glyphBody);
  const outlines = { glyf: Buffer.concat(bodies), loca: locaTable(bodies), maxp: maxpTable(glyphs) };
  return font(0x0001_0000, { ...commonTables(glyphs), ...outlines });
}

/** Returns the same font as an OTF file. */
export function openTypeface(): Buffer {
  const glyphs = glyphsOf();
  const characters = [null, ...Object.keys(LETTERS)];
  const cff = cffTable({
    name: `${NAME}-Regular`,
    advance: ADVANCE,
    glyphs: glyphs.map((rectangles, index) => ({ character: characters[index] ?? null, rectangles })),
  });
  const maxp = Buffer.concat([longs(0x0000_5000), words(glyphs.length)]);
  return font(0x4f54_544f, { 'CFF ': cff, ...commonTables(glyphs), maxp });
}

function glyphsOf(): Rectangle[][] {
  return [frame(), ...Object.values(LETTERS).map(rectangles)];
}

function commonTables(glyphs: readonly (readonly Rectangle[])[]): Record<string, Buffer> {
  return {
    'OS/2': os2Table(),
    cmap: cmapTable(),
    head: headTable(),
    hhea: hheaTable(glyphs.length),
    hmtx: Buffer.concat(glyphs.map((glyph) => words(ADVANCE, leftOf(glyph)))),
    name: nameTable(),
    post: Buffer.concat([longs(0x0003_0000, 0), words(-100, 50), longs(1, 0, 0, 0, 0)]),
  };
}

/** Returns the glyph for characters that the font lacks: an empty box. */
function frame(): Rectangle[] {
  const [right, top] = [5 * DOT, 7 * DOT];
  const line = 40;
  return [
    { left: 0, bottom: 0, right, top: line },
    { left: 0, bottom: top - line, right, top },
    { left: 0, bottom: line, right: line, top: top - line },
    { left: right - line, bottom: line, right, top: top - line },
  ];
}

/** Returns one rectangle per run of dots in a row. */
function rectangles(rows: readonly string[]): Rectangle[] {
  return rows.flatMap((row, index) =>
    [...row.matchAll(/#+/g)].map((run) => ({
      left: run.index * DOT,
      right: (run.index + run[0].length) * DOT,
      bottom: (6 - index) * DOT,
      top: (7 - index) * DOT,
    })),
  );
}

function leftOf(glyph: readonly Rectangle[]): number {
  return glyph.length === 0 ? 0 : Math.min(...glyph.map((each) => each.left));
}

function bounds(glyph: readonly Rectangle[]): [number, number, number, number] {
  return [
    leftOf(glyph),
    Math.min(...glyph.map((each) => each.bottom)),
    Math.max(...glyph.map((each) => each.right)),
    Math.max(...glyph.map((each) => each.top)),
  ];
}

function glyphBody(glyph: readonly Rectangle[]): Buffer {
  if (glyph.length === 0) return Buffer.alloc(0);
  const points = glyph.flatMap(({ left, bottom, right, top }) => [
    [left, bottom],
    [left, top],
    [right, top],
    [right, bottom],
  ]) as [number, number][];
  const steps = (axis: 0 | 1): number[] => points.map((point, index) => point[axis] - (points[index - 1]?.[axis] ?? 0));
  return padded(
    Buffer.concat([
      words(glyph.length, ...bounds(glyph)),
      words(...glyph.map((_rectangle, index) => index * 4 + 3)),
      words(0),
      Buffer.alloc(points.length, 1),
      words(...steps(0)),
      words(...steps(1)),
    ]),
  );
}

function locaTable(bodies: readonly Buffer[]): Buffer {
  let at = 0;
  return longs(0, ...bodies.map((body) => (at += body.length)));
}

function headTable(): Buffer {
  const created = Buffer.alloc(8);
  created.writeBigUInt64BE(3_850_000_000n);
  return Buffer.concat([
    longs(0x0001_0000, 0x0001_0000, 0, 0x5f0f_3cf5),
    words(0b11, EM),
    created,
    created,
    words(0, 0, 5 * DOT, ASCENT, 0, 8, 2, 1, 0),
  ]);
}

function hheaTable(glyphs: number): Buffer {
  return Buffer.concat([
    longs(0x0001_0000),
    words(ASCENT, DESCENT, 0, ADVANCE, 0, ADVANCE - 5 * DOT, 5 * DOT, 1, 0, 0, 0, 0, 0, 0, 0, glyphs),
  ]);
}

function maxpTable(glyphs: readonly (readonly Rectangle[])[]): Buffer {
  const most = Math.max(...glyphs.map((glyph) => glyph.length));
  return Buffer.concat([longs(0x0001_0000), words(glyphs.length, most * 4, most, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)]);
}

function os2Table(): Buffer {
  return Buffer.concat([
    words(4, ADVANCE, 400, 5, 0, 650, 600, 0, 75, 650, 600, 0, 350, 50, 300, 0),
    Buffer.alloc(10),
    longs(1, 0, 0, 0),
    Buffer.from('NONE'),
    words(0x40, 0x20, 0x7a, ASCENT, DESCENT, 0, ASCENT, -DESCENT),
    longs(1, 0),
    words(5 * DOT, 7 * DOT, 0, 0x20, 1),
  ]);
}

/** Returns the table in format 4: a segment per character, small letters included. */
function cmapTable(): Buffer {
  const names = Object.keys(LETTERS);
  const characters = names.flatMap((letter, index) => {
    const codes = new Set([letter.charCodeAt(0), letter.toLowerCase().charCodeAt(0)]);
    return [...codes].map((code) => ({ code, delta: index + 1 - code }));
  });
  const segments = [...characters.toSorted((a, b) => a.code - b.code), { code: 0xffff, delta: 1 }];
  const count = segments.length;
  const power = 2 ** Math.floor(Math.log2(count));
  const codes = words(...segments.map(({ code }) => code));
  const body = Buffer.concat([
    words(count * 2, power * 2, Math.log2(power), (count - power) * 2),
    codes,
    words(0),
    codes,
    words(...segments.map(({ delta }) => delta)),
    Buffer.alloc(count * 2),
  ]);
  return Buffer.concat([words(0, 1, 3, 1), longs(12), words(4, body.length + 6, 0), body]);
}

function nameTable(): Buffer {
  const texts: [id: number, text: string][] = [
    [0, 'Made by the mediajobs project. Free for any use.'],
    [1, NAME],
    [2, 'Regular'],
    [3, `${NAME} 1.0`],
    [4, `${NAME} Regular`],
    [5, 'Version 1.0'],
    [6, `${NAME}-Regular`],
  ];
  const encoded = texts.map(([, text]) => Buffer.from(text, 'utf16le').swap16());
  let at = 0;
  const records = texts.map(([id], index) => {
    const length = encoded[index]?.length ?? 0;
    at += length;
    return words(3, 1, 0x409, id, length, at - length);
  });
  return Buffer.concat([words(0, texts.length, 6 + 12 * texts.length), ...records, ...encoded]);
}

function font(version: number, unsorted: Readonly<Record<string, Buffer>>): Buffer {
  const tables = Object.fromEntries(Object.entries(unsorted).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  const names = Object.keys(tables);
  const power = 2 ** Math.floor(Math.log2(names.length));
  let at = 12 + 16 * names.length;
  const entries = Object.entries(tables).map(([name, table]) => {
    const entry = Buffer.concat([Buffer.from(name.padEnd(4)), longs(checksum(table), at, table.length)]);
    at += padded(table).length;
    return entry;
  });
  const head = Buffer.concat([
    longs(version),
    words(names.length, power * 16, Math.log2(power), (names.length - power) * 16),
  ]);
  const file = Buffer.concat([head, ...entries, ...Object.values(tables).map(padded)]);
  const headAt = file.readUInt32BE(12 + 16 * names.indexOf('head') + 8);
  file.writeUInt32BE((0xb1b0_afba - checksum(file)) >>> 0, headAt + 8);
  return file;
}

function checksum(bytes: Buffer): number {
  const whole = padded(bytes);
  let sum = 0;
  for (let at = 0; at < whole.length; at += 4) sum = (sum + whole.readUInt32BE(at)) >>> 0;
  return sum;
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

/** Returns 16-bit numbers in big-endian order, signed or not. */
function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => bytes.writeUInt16BE(value & 0xffff, index * 2));
  return bytes;
}

/** Returns 32-bit numbers in big-endian order. */
function longs(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32BE(value >>> 0, index * 4));
  return bytes;
}
