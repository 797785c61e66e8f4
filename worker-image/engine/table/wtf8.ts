/**
 * Text as UTF-8 in which a lone surrogate is three bytes too, as if it were a character (WTF-8). JSON may contain lone
 * surrogates, and a converted table preserves them.
 */
const LONE_SURROGATE = /\p{Surrogate}/gu;
/** First byte of U+D000 to U+DFFF; the second byte of a surrogate is 0xa0 or more. */
const LEAD = 0xed;
const LONE_BYTES = 3;

/** Writes the text at an offset of a buffer with room for three bytes per character. Returns the number of bytes. */
export function writeWtf8(target: Buffer, at: number, text: string): number {
  if (text.isWellFormed()) return target.write(text, at);
  let [from, length] = [0, at];
  for (const { index } of text.matchAll(LONE_SURROGATE)) {
    const code = text.charCodeAt(index);
    length += target.write(text.slice(from, index), length);
    length += Buffer.of(LEAD, 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)).copy(target, length);
    from = index + 1;
  }
  return length + target.write(text.slice(from), length) - at;
}

/** Returns the text of a range of bytes. */
export function readWtf8(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString('utf8', from, to);
  if (!text.includes('\ufffd')) return text;
  const pieces: string[] = [];
  let start = from;
  for (let at = bytes.indexOf(LEAD, from); at !== -1 && at < to; at = bytes.indexOf(LEAD, at + LONE_BYTES)) {
    const code = loneSurrogateAt(bytes, at);
    if (code === null) continue;
    pieces.push(bytes.toString('utf8', start, at), String.fromCharCode(code));
    start = at + LONE_BYTES;
  }
  return pieces.join('') + bytes.toString('utf8', start, to);
}

/** Returns the lone surrogate whose three bytes begin at an offset, or null. */
export function loneSurrogateAt(bytes: Uint8Array, at: number): number | null {
  const [lead, second = 0, third = 0] = [bytes[at], bytes[at + 1], bytes[at + 2]];
  return lead === LEAD && second >= 0xa0 ? 0xd000 | ((second & 0x3f) << 6) | (third & 0x3f) : null;
}
