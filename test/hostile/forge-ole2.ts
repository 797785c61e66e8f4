/** Writer of OLE2 containers, as in Office 97 to 2003, with one allocation sector. */

const [SECTOR, SHORT_SECTOR, SHORT_STREAM] = [512, 64, 4096];
const [END, FREE, TABLE] = [0xffff_fffe, 0xffff_ffff, 0xffff_fffd];

/** Returns a container with the streams in its root, each the right sibling of the previous one. */
export function ole2(streams: readonly { readonly name: string; readonly data: Buffer }[]): Buffer {
  const sectors: Buffer[] = [];
  const next: number[] = [TABLE];
  const store = (data: Buffer): number => {
    const first = next.length;
    for (let at = 0; at < data.length; at += SECTOR) {
      const sector = Buffer.alloc(SECTOR);
      data.copy(sector, 0, at, at + SECTOR);
      sectors.push(sector);
      next.push(at + SECTOR < data.length ? next.length + 1 : END);
    }
    return first;
  };
  const short: Buffer[] = [];
  const placed = streams.map(({ name, data }) => {
    if (data.length >= SHORT_STREAM) return { name, at: store(data), bytes: data.length };
    const at = short.reduce((sum, { length }) => sum + length, 0) / SHORT_SECTOR;
    short.push(Buffer.concat([data, Buffer.alloc((SHORT_SECTOR - (data.length % SHORT_SECTOR)) % SHORT_SECTOR)]));
    return { name, at, bytes: data.length };
  });
  const shorts = Buffer.concat(short);
  const root = { name: 'Root Entry', at: shorts.length === 0 ? END : store(shorts), bytes: shorts.length };
  const directory = store(Buffer.concat([root, ...placed].map((entry, index) => entryOf(entry, index, placed.length))));
  const header = Buffer.alloc(SECTOR, 0xff);
  header.fill(0, 0, 76);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(header);
  header.writeUInt16LE(0x3e, 24);
  header.writeUInt16LE(3, 26);
  header.writeUInt16LE(0xfffe, 28);
  header.writeUInt16LE(9, 30);
  header.writeUInt16LE(6, 32);
  header.writeUInt32LE(1, 44);
  header.writeUInt32LE(directory, 48);
  header.writeUInt32LE(SHORT_STREAM, 56);
  header.writeUInt32LE(END, 60);
  header.writeUInt32LE(END, 68);
  header.writeUInt32LE(0, 76);
  const table = Buffer.alloc(SECTOR, 0xff);
  next.forEach((value, index) => table.writeUInt32LE(value, index * 4));
  return Buffer.concat([header, table, ...sectors]);
}

function entryOf(
  { name, at, bytes }: { name: string; at: number; bytes: number },
  index: number,
  last: number,
): Buffer {
  const entry = Buffer.alloc(128);
  entry.write(name, 'utf16le');
  entry.writeUInt16LE(name.length * 2 + 2, 64);
  entry[66] = index === 0 ? 5 : 2;
  entry[67] = 1;
  entry.writeUInt32LE(FREE, 68);
  entry.writeUInt32LE(index > 0 && index < last ? index + 1 : FREE, 72);
  entry.writeUInt32LE(index === 0 ? 1 : FREE, 76);
  entry.writeUInt32LE(at >>> 0, 116);
  entry.writeUInt32LE(bytes, 120);
  return entry;
}
