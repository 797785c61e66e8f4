/** Metafiles with one record that declares more points than it has. */

/** Returns an enhanced metafile with a polygon that declares that many missing bytes. */
export function emf(claims: number): Buffer {
  const bytes = Buffer.alloc(108 + 32);
  [1, 108, 0, 0, 900, 900, 0, 0, 9000, 9000].forEach((value, i) => bytes.writeUInt32LE(value, i * 4));
  bytes.write(' EMF', 40, 'latin1');
  [0x10000, claims, claims, 9].forEach((value, i) => bytes.writeUInt32LE(value, 44 + i * 4));
  [3, claims, 0, 0, 0, 0, claims / 8].forEach((value, i) => bytes.writeUInt32LE(Math.floor(value), 108 + i * 4));
  return bytes;
}

/** Returns the same record as a Windows metafile with a placeable header. */
export function wmf(claims: number): Buffer {
  const bytes = Buffer.alloc(22 + 18 + 12);
  bytes.writeUInt32LE(0x9ac6_cdd7, 0);
  [0, 0, 900, 900, 96].forEach((value, i) => bytes.writeInt16LE(value, 6 + i * 2));
  [1, 9, 0x300].forEach((value, i) => bytes.writeUInt16LE(value, 22 + i * 2));
  bytes.writeUInt32LE(claims, 28);
  bytes.writeUInt32LE(claims, 34);
  bytes.writeUInt32LE(claims, 40);
  bytes.writeUInt16LE(0x0325, 44);
  bytes.writeUInt16LE(0x7fff, 46);
  return bytes;
}
