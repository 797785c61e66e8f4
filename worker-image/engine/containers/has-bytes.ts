/** Returns whether the bytes, as Latin-1 text, are at the offset. */
export function hasBytes(buffer: Buffer, bytes: string, offset = 0): boolean {
  return buffer.length >= offset + bytes.length && buffer.toString('latin1', offset, offset + bytes.length) === bytes;
}
