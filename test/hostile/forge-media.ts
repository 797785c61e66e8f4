/** Writers of media files from boxes, chunks and elements. */

/** Returns a box of ISO-BMFF that contains the parts. */
export function box(type: string, ...parts: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
  return Buffer.concat([u32(8 + body.length), Buffer.from(type, 'latin1'), body]);
}

export function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32BE(value >>> 0, index * 4));
  return bytes;
}

const CONTAINERS: readonly string[] = ['moov', 'trak', 'mdia', 'minf', 'stbl', 'dinf'];

/** Returns the file with each box of the type replaced. Adjusts the lengths of the containing boxes. */
export function replaceBoxes(file: Buffer, type: string, make: (body: Buffer) => Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at + 8 <= file.length;) {
    const size = file.readUInt32BE(at) || file.length - at;
    const name = file.toString('latin1', at + 4, at + 8);
    const body = file.subarray(at + 8, at + size);
    if (name === type) parts.push(make(body));
    else if (CONTAINERS.includes(name)) parts.push(box(name, replaceBoxes(body, type, make)));
    else parts.push(file.subarray(at, at + size));
    at += size;
  }
  return Buffer.concat(parts);
}

/** Returns a WAV of silence with the given values in its header. */
export function wav(
  claims: { rate: number; channels: number; bits: number; dataBytes?: number },
  bytes: number,
): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + bytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(claims.channels, 22);
  header.writeUInt32LE(claims.rate, 24);
  const block = (claims.channels * claims.bits) / 8;
  header.writeUInt32LE((claims.rate * block) >>> 0, 28);
  header.writeUInt16LE(block & 0xffff, 32);
  header.writeUInt16LE(claims.bits, 34);
  header.write('data', 36);
  header.writeUInt32LE(claims.dataBytes ?? bytes, 40);
  return Buffer.concat([header, Buffer.alloc(bytes)]);
}

/** Returns a RIFF chunk or list. */
export function riff(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.write(type, 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

/** Returns an AVI of MJPEG frames with a text stream that contains the text as an embedded subtitle file. */
export function aviWithSubtitle(picture: Buffer, words: string): Buffer {
  const list = (type: string, ...parts: Buffer[]): Buffer => riff('LIST', Buffer.from(type), ...parts);
  const frames = 10;
  const main = u32le(40_000, 0, 0, 0x10, frames, 0, 2, 0, 64, 64, 0, 0, 0, 0);
  const stream = (type: string, handler: string): Buffer =>
    riff('strh', Buffer.from(type + handler, 'latin1'), u32le(0, 0, 0, 1, 25, 0, frames, 0, 0, 0, 0, 0));
  const format = Buffer.concat([
    u32le(40, 64, 64),
    Buffer.from([1, 0, 24, 0]),
    Buffer.from('MJPG'),
    u32le(0, 0, 0, 0, 0),
  ]);
  const text = Buffer.from(words);
  const name = Buffer.from('a\0', 'utf16le');
  const gab2 = Buffer.concat([
    Buffer.from('GAB2\0\x02\0', 'latin1'),
    u32le(name.length),
    name,
    Buffer.from([4, 0]),
    u32le(text.length),
    text,
  ]);
  return riff(
    'RIFF',
    Buffer.from('AVI '),
    list(
      'hdrl',
      riff('avih', main),
      list('strl', stream('vids', 'MJPG'), riff('strf', format)),
      list('strl', stream('txts', '\0\0\0\0'), riff('strf', Buffer.alloc(0))),
    ),
    list('movi', riff('01tx', gab2), ...Array.from({ length: frames }, () => riff('00dc', picture))),
  );
}

function u32le(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32LE(value, index * 4));
  return bytes;
}

/** Returns an EBML element. @param id Hexadecimal digits. */
export function element(id: string, ...parts: readonly (Buffer | string | number)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === 'number' ? u32(part) : typeof part === 'string' ? Buffer.from(part) : part)),
  );
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(0x0100_0000_0000_0000n + BigInt(body.length));
  return Buffer.concat([Buffer.from(id, 'hex'), size, body]);
}

/** Returns a Matroska file with that many video tracks and further elements in its segment. */
export function matroska(tracks: number, ...more: readonly Buffer[]): Buffer {
  const track = (number: number): Buffer =>
    element(
      'ae',
      element('d7', number),
      element('73c5', number),
      element('83', Buffer.from([1])),
      element('86', 'V_MJPEG'),
      element('e0', element('b0', 64), element('ba', 64)),
    );
  return Buffer.concat([
    element('1a45dfa3', element('4282', 'matroska'), element('4287', 4), element('4285', 2)),
    element(
      '18538067',
      element('1549a966', element('2ad7b1', 1_000_000)),
      element('1654ae6b', ...Array.from({ length: tracks }, (_, index) => track(index + 1))),
      ...more,
    ),
  ]);
}
