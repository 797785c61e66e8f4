import { describe, expect, it } from 'vitest';
import { formatOfBmp } from '#worker-image/engine/identify/bmp.ts';

function bitmap(headerBytes: number, length = 64): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.write('BM', 'latin1');
  bytes.writeUInt32LE(headerBytes, 14);
  return bytes;
}

describe('formatOfBmp', () => {
  it.each([12, 16, 40, 52, 56, 64, 108, 124])('returns bmp for a second header of %i bytes', (headerBytes) => {
    expect(formatOfBmp(bitmap(headerBytes))).toBe('bmp');
  });

  it.each([
    ['text that begins with BM', Buffer.from('BMW is a brand of cars and motorcycles')],
    ['a second header of unknown size', bitmap(41)],
    ['a truncated header', bitmap(40, 25)],
    ['another signature', Buffer.alloc(64)],
  ])('returns null for %s', (_what, bytes) => {
    expect(formatOfBmp(bytes)).toBeNull();
  });
});
