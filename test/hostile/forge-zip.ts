/** ZIP archives whose entries may say what is not so. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipPart {
  readonly name: string;
  readonly data: Buffer | string;
  /** Instead of the true length of the unpacked data. */
  readonly claims?: number;
  /** Unix mode in the directory; 0o120777 makes it a symbolic link. */
  readonly mode?: number;
  /** Gives the place of another entry's data, by its index, and stores none. */
  readonly sameAs?: number;
}

/** An archive of these entries in this order. */
export function zip(parts: readonly ZipPart[]): Buffer {
  const local: Buffer[] = [];
  const directory: Buffer[] = [];
  const places: { at: number; fields: Buffer }[] = [];
  let at = 0;
  for (const part of parts) {
    const name = Buffer.from(part.name);
    const shared = part.sameAs === undefined ? undefined : places[part.sameAs];
    const place = shared ?? { at, fields: Buffer.alloc(0) };
    if (shared === undefined) {
      const plain = Buffer.from(part.data);
      const packed = part.name === 'mimetype' ? plain : deflateRawSync(plain, { level: 9 });
      place.fields = fieldsOf({ plain, packed, claims: part.claims });
      const head = Buffer.alloc(30);
      head.writeUInt32LE(0x0403_4b50, 0);
      place.fields.copy(head, 4);
      head.writeUInt16LE(name.length, 26);
      local.push(head, name, packed);
      at += head.length + name.length + packed.length;
    }
    places.push(place);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x0201_4b50, 0);
    entry.writeUInt16LE(0x031e, 4);
    place.fields.copy(entry, 6);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(((part.mode ?? 0o100644) << 16) >>> 0, 38);
    entry.writeUInt32LE(place.at, 42);
    directory.push(entry, name);
  }
  const size = directory.reduce((sum, piece) => sum + piece.length, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x0605_4b50, 0);
  end.writeUInt16LE(parts.length & 0xffff, 8);
  end.writeUInt16LE(parts.length & 0xffff, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...local, ...directory, end]);
}

/** What the entry before the data and the one in the directory have in common: version to sizes. */
function fieldsOf({ plain, packed, claims }: { plain: Buffer; packed: Buffer; claims: number | undefined }): Buffer {
  const fields = Buffer.alloc(22);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(packed === plain ? 0 : 8, 4);
  fields.writeUInt32LE(0x5a21, 8);
  fields.writeUInt32LE(crc32(plain), 10);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(claims ?? plain.length, 18);
  return fields;
}
