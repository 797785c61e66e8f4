import { describe, expect, it } from 'vitest';
import { ASF_HEADER, ASF_HEADER_EXTENSION, ASF_METADATA, ASF_PADDING } from '#worker-image/engine/containers/asf.ts';
import { stripAsf } from '#worker-image/engine/media/strip-asf.ts';

const OTHER = Buffer.alloc(16, 7);
const SECRET = Buffer.from('SECRET');

function object(id: Buffer, body: Buffer, size = 24 + body.length): Buffer {
  const head = Buffer.alloc(24);
  id.copy(head);
  head.writeBigUInt64LE(BigInt(size), 16);
  return Buffer.concat([head, body]);
}

/** A header has 6 bytes in front of its objects, an extension 22. */
const header = (...objects: readonly Buffer[]): Buffer =>
  object(ASF_HEADER, Buffer.concat([Buffer.alloc(6, 1), ...objects]));
const extension = (...objects: readonly Buffer[]): Buffer =>
  object(ASF_HEADER_EXTENSION, Buffer.concat([Buffer.alloc(22, 2), ...objects]));
const PADDING = object(ASF_PADDING, Buffer.alloc(SECRET.length));
const DATA = object(OTHER, Buffer.from('sound'));
const TITLE = object(ASF_METADATA[0] ?? OTHER, SECRET);

describe('stripAsf', () => {
  it.each(ASF_METADATA.map((id, index) => [index, id] as const))(
    'replaces metadata object %d by padding of the same size, in the header and in its extension',
    (_index, id) => {
      const file = (metadata: Buffer): Buffer =>
        Buffer.concat([header(object(OTHER, SECRET), metadata, extension(metadata)), DATA]);
      expect(stripAsf(file(object(id, SECRET))).equals(file(PADDING))).toBe(true);
    },
  );

  it('changes nothing after the header', () => {
    const file = Buffer.concat([header(), TITLE]);
    expect(stripAsf(file).equals(file)).toBe(true);
  });

  it('strips metadata inside thousands of nested extensions', () => {
    const depth = 20_000;
    const heads = Array.from({ length: depth }, (_, index) => {
      const rest = (depth - index) * 46 + TITLE.length;
      return object(ASF_HEADER_EXTENSION, Buffer.alloc(22), rest);
    });
    const chain = Buffer.concat([...heads, TITLE]);
    expect(stripAsf(header(chain)).equals(header(Buffer.concat([...heads, PADDING])))).toBe(true);
  });

  it.each<readonly [string, Buffer]>([
    ['no bytes', Buffer.alloc(0)],
    ['another signature', object(OTHER, SECRET)],
    ['a truncated header', header(TITLE).subarray(0, -1)],
    ['a header that claims 2^63 bytes', object(ASF_HEADER, SECRET, Number.MAX_SAFE_INTEGER)],
    ['an object longer than the header', header(object(OTHER, SECRET, 25 + SECRET.length))],
    ['an object shorter than its own header', header(object(OTHER, SECRET, 23))],
    ['an object of size 0', header(object(OTHER, SECRET, 0))],
  ])('refuses a file with %s', (_what, file) => {
    expect(() => stripAsf(file)).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });
});
