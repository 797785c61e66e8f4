import { describe, expect, it } from 'vitest';
import { kindByFirstBytes } from '#worker-image/engine/identify/kind-by-first-bytes.ts';

describe('kindByFirstBytes', () => {
  it.each([
    ['\xff\xd8\xff\xe0', 'image'],
    ['RIFF\0\0\0\0WEBPVP8 ', 'image'],
    ['%PDF-1.7', 'pdf'],
    ['wOFF\0\0', 'font'],
    ['id,name\n', null],
    ['8BPS\0\0\0\0', null],
    ['RIFF\0\0\0\0what', null],
    ['', null],
  ])('returns the kind of a file that begins with %j: %s', (bytes, kind) => {
    expect(kindByFirstBytes(Buffer.from(bytes, 'latin1'))).toBe(kind);
  });
});
