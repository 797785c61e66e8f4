import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import { ASF_HEADER } from '#worker-image/engine/containers/asf.ts';
import { formatOfAsf } from '#worker-image/engine/identify/asf.ts';

const STREAM = '9107dcb7b7a9cf118ee600c00c205365';
const AUDIO = '409e69f84d5bcf11a8fd00805f5c442b';
const VIDEO = 'c0ef19bc4d5bcf11a8fd00805f5c442b';
const OTHER = '00000000000000000000000000000000';

/** Returns a header object with a stream properties object for each type. */
function asf(...types: readonly string[]): Buffer {
  const streams = types.map((type) => Buffer.from(`${STREAM}${'00'.repeat(8)}${type}`, 'hex'));
  const size = Buffer.alloc(14);
  const bytes = Buffer.concat([ASF_HEADER, size, ...streams]);
  bytes.writeBigUInt64LE(BigInt(bytes.length), 16);
  return bytes;
}

describe('formatOfAsf', () => {
  it.each([
    ['wmv', [AUDIO, VIDEO]],
    ['wma', [OTHER, AUDIO]],
  ])('returns %s by the types of the streams', async (format, types) => {
    expect(await formatOfAsf(fileReaderOf(asf(...types)))).toBe(format);
  });

  it('refuses a file without audio or video', async () => {
    await expect(formatOfAsf(fileReaderOf(asf(OTHER)))).rejects.toMatchObject({ code: 'unsupported_input' });
  });

  it.each([
    ['other bytes', Buffer.alloc(64)],
    ['a truncated header', ASF_HEADER],
  ])('returns null for %s', async (_what, bytes) => {
    expect(await formatOfAsf(fileReaderOf(bytes))).toBeNull();
  });
});
