import type { Format } from '#crds/formats.ts';
import type { SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

const HEADER = guid('75b22630-668e-11cf-a6d9-00aa0062ce6c');
const STREAM_PROPERTIES = guid('b7dc0791-a9b7-11cf-8ee6-00c00c205365');
const VIDEO = guid('bc19efc0-5b4d-11cf-a8fd-00805f5c442b');
const AUDIO = guid('f8699e40-5b4d-11cf-a8fd-00805f5c442b');
const MAX_HEADER_BYTES = 1024 * 1024;

/** Windows Media by the types of its streams; null when it is no ASF. Source: Advanced Systems Format specification 3.3. */
export async function formatOfAsf(file: SniffedFile): Promise<Format | null> {
  if (!file.head.subarray(0, 16).equals(HEADER) || file.head.length < 30) return null;
  const length = Math.min(Number(file.head.readBigUInt64LE(16)), MAX_HEADER_BYTES);
  const types = streamTypes(await file.read(0, length));
  if (types.some((type) => type.equals(VIDEO))) return 'wmv';
  if (types.some((type) => type.equals(AUDIO))) return 'wma';
  throw unsupported('a Windows Media file without sound and pictures');
}

/** Stream descriptions may stand inside another object, so they are found by their own mark. */
function streamTypes(header: Buffer): Buffer[] {
  const types: Buffer[] = [];
  let at = header.indexOf(STREAM_PROPERTIES);
  while (at !== -1) {
    types.push(header.subarray(at + 24, at + 40));
    at = header.indexOf(STREAM_PROPERTIES, at + 16);
  }
  return types;
}

/** A GUID's bytes as they stand in the file: the first three groups are little-endian. */
function guid(text: string): Buffer {
  const [first = '', second = '', third = '', ...rest] = text.split('-');
  const swapped = [first, second, third].map((group) => Buffer.from(Buffer.from(group, 'hex').toReversed()));
  return Buffer.concat([...swapped, Buffer.from(rest.join(''), 'hex')]);
}
