import { describe, expect, it } from 'vitest';
import { PART_HEADER_BYTES, watchPartHeaders } from '#api/http/part-headers.ts';

const part = (headerBytes: number, content = 'abc'): string =>
  `--b\r\n${'X: y'.padEnd(headerBytes - 2, 'y')}\r\n\r\n${content}\r\n`;

/** Returns whether all headers of the body are within the limit, when it arrives in chunks of `chunkBytes`. */
function areHeadersWithinLimit(body: string, chunkBytes: number): boolean {
  const isWithinLimit = watchPartHeaders('b');
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    if (!isWithinLimit(bytes.subarray(at, at + chunkBytes))) return false;
  }
  return true;
}

describe('watchPartHeaders', () => {
  it.each([
    ['of a part', part(1000) + '--b--', true],
    ['that are missing', '--b\r\n\r\nabc\r\n--b--', true],
    ['at the limit', part(PART_HEADER_BYTES) + '--b--', true],
    ['one byte over it', part(PART_HEADER_BYTES + 1) + '--b--', false],
    ['over it in the second part', part(100) + part(20_000) + '--b--', false],
    ['over it after an empty part', part(100, '') + part(20_000) + '--b--', false],
    ['that never end', `--b\r\nX: ${'y'.repeat(100_000)}`, false],
    ['before a long content', part(100, 'x'.repeat(100_000)) + '--b--', true],
    ['after a content like a delimiter', part(100, `\r\n--a${'x'.repeat(50_000)}`) + part(20_000), false],
    ['after a long preamble', 'x'.repeat(50_000) + '\r\n' + part(100) + '--b--', true],
    ['before a long epilogue', part(100) + `--b--\r\n--b\r\n${'x'.repeat(50_000)}`, true],
  ])('checks headers %s', (_position, body, expected) => {
    for (const chunkBytes of [7, 1000, 65_536, 1_000_000]) {
      expect(areHeadersWithinLimit(body, chunkBytes)).toBe(expected);
    }
  });
});
