/** `CFF ` table of an OpenType font whose glyphs are rectangles. Source: Adobe technical notes 5176 and 5177. */

export interface CffRectangle {
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
}

export interface CffFont {
  /** PostScript name. */
  readonly name: string;
  /** Width of every glyph, in font units. */
  readonly advance: number;
  /** The first glyph stands for characters that the font lacks. */
  readonly glyphs: readonly { readonly character: string | null; readonly rectangles: readonly CffRectangle[] }[];
}

const OPERATOR = { charset: 15, charStrings: 17, private: 18, defaultWidth: 20 } as const;
const DRAW = { hlineto: 6, endchar: 14, rmoveto: 21 } as const;
/** The standard strings begin with the names of the ASCII characters from the space on. */
const FIRST_NAME = { id: 1, code: 0x20 } as const;

/** Returns the table's bytes. */
export function cffTable({ name, advance, glyphs }: CffFont): Buffer {
  const header = Buffer.from([1, 0, 4, 4]);
  const names = index([Buffer.from(name, 'latin1')]);
  const none = index([]);
  const named = glyphs.slice(1).map(({ character }) => (character ?? ' ').charCodeAt(0));
  const charset = Buffer.concat([
    Buffer.from([0]),
    ...named.map((code) => Buffer.from([0, code - FIRST_NAME.code + FIRST_NAME.id])),
  ]);
  const charStrings = index(glyphs.map(({ rectangles }) => charString(rectangles)));
  const privateDictionary = Buffer.concat([integer(advance), Buffer.from([OPERATOR.defaultWidth])]);
  const top = (charsetAt: number): Buffer => {
    const stringsAt = charsetAt + charset.length;
    return index([
      Buffer.concat([
        integer(charsetAt),
        Buffer.from([OPERATOR.charset]),
        integer(stringsAt),
        Buffer.from([OPERATOR.charStrings]),
        integer(privateDictionary.length),
        integer(stringsAt + charStrings.length),
        Buffer.from([OPERATOR.private]),
      ]),
    ]);
  };
  // Each number has five bytes, so that offsets do not depend on values.
  const before = header.length + names.length + top(0).length + none.length + none.length;
  return Buffer.concat([header, names, top(before), none, none, charset, charStrings, privateDictionary]);
}

/** Returns one outline per rectangle, relative to the end of the previous one. */
function charString(rectangles: readonly CffRectangle[]): Buffer {
  let [x, y] = [0, 0];
  const parts = rectangles.map(({ left, bottom, right, top }) => {
    const [width, height] = [right - left, top - bottom];
    const drawn = [short(left - x), short(bottom - y), Buffer.from([DRAW.rmoveto])];
    drawn.push(short(width), short(height), short(-width), Buffer.from([DRAW.hlineto]));
    [x, y] = [left, top];
    return Buffer.concat(drawn);
  });
  return Buffer.concat([...parts, Buffer.from([DRAW.endchar])]);
}

function index(items: readonly Buffer[]): Buffer {
  const count = Buffer.alloc(2);
  count.writeUInt16BE(items.length);
  if (items.length === 0) return count;
  let at = 1;
  const offsets = [at, ...items.map((item) => (at += item.length))].map((offset) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(offset);
    return bytes;
  });
  return Buffer.concat([count, Buffer.from([4]), ...offsets, ...items]);
}

function integer(value: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes[0] = 29;
  bytes.writeInt32BE(value, 1);
  return bytes;
}

function short(value: number): Buffer {
  const bytes = Buffer.alloc(3);
  bytes[0] = 28;
  bytes.writeInt16BE(value, 1);
  return bytes;
}
