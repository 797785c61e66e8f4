/** Objects of Advanced Systems Format files: WMA, WMV. Source: Advanced Systems Format specification 1.2. */

/** An object is a GUID, a size of 8 bytes that counts from its own start, and a payload. */
export interface AsfObject {
  readonly id: Buffer;
  readonly start: number;
  readonly body: number;
  /** End by the object's own size, which may be outside the file. */
  readonly end: number;
}

export const ASF_HEADER = guid('75b22630-668e-11cf-a6d9-00aa0062ce6c');
export const ASF_HEADER_EXTENSION = guid('5fbf03b5-a92e-11cf-8ee3-00c00c205365');
export const ASF_PADDING = guid('1806d474-cadf-4509-a4ba-9aabcb96aae8');
/** The objects that hold metadata: content description, its extension, metadata, metadata library, markers. */
export const ASF_METADATA: readonly Buffer[] = [
  guid('75b22633-668e-11cf-a6d9-00aa0062ce6c'),
  guid('d2d0a440-e307-11d2-97f0-00a0c95ea850'),
  guid('c5f8cbea-5baf-4877-8467-aa8c44fa4cca'),
  guid('44231c94-9498-49d1-a141-1d134e457054'),
  guid('f487cd01-a951-11cf-8ee6-00c00c205365'),
];
const STREAM_PROPERTIES = guid('b7dc0791-a9b7-11cf-8ee6-00c00c205365');
const VIDEO = guid('bc19efc0-5b4d-11cf-a8fd-00805f5c442b');
const AUDIO = guid('f8699e40-5b4d-11cf-a8fd-00805f5c442b');

/** Size of an object's GUID and size, in bytes. */
export const ASF_OBJECT_HEADER_BYTES = 24;
const GUID_BYTES = 16;

/** Parses the object whose header is at the start of the bytes, which begin at `start`; null when it is truncated. */
export function parseAsfObject(bytes: Buffer, start: number): AsfObject | null {
  if (bytes.length < ASF_OBJECT_HEADER_BYTES) return null;
  return {
    id: bytes.subarray(0, GUID_BYTES),
    start,
    body: start + ASF_OBJECT_HEADER_BYTES,
    end: start + Number(bytes.readBigUInt64LE(GUID_BYTES)),
  };
}

/**
 * Returns the types of the streams that the header object describes. Descriptions may be nested in other objects, so
 * they are searched by their GUID.
 */
export function asfStreamTypes(header: Buffer): ('audio' | 'video' | 'other')[] {
  const types: ('audio' | 'video' | 'other')[] = [];
  let at = header.indexOf(STREAM_PROPERTIES);
  while (at !== -1) {
    const type = header.subarray(at + ASF_OBJECT_HEADER_BYTES, at + ASF_OBJECT_HEADER_BYTES + GUID_BYTES);
    types.push(type.equals(VIDEO) ? 'video' : type.equals(AUDIO) ? 'audio' : 'other');
    at = header.indexOf(STREAM_PROPERTIES, at + GUID_BYTES);
  }
  return types;
}

/** Returns a GUID's bytes in the order of the file: the first three groups are little-endian. */
function guid(text: string): Buffer {
  const [first = '', second = '', third = '', ...rest] = text.split('-');
  const swapped = [first, second, third].map((group) => Buffer.from(Buffer.from(group, 'hex').toReversed()));
  return Buffer.concat([...swapped, Buffer.from(rest.join(''), 'hex')]);
}
