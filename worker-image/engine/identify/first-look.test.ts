import { describe, expect, it } from 'vitest';
import { firstLook } from '#worker-image/engine/identify/first-look.ts';

describe('firstLook', () => {
  it.each([
    ['\xff\xd8\xff\xe0', 'image'],
    ['RIFF\0\0\0\0WEBPVP8 ', 'image'],
    ['%PDF-1.7', 'pdf'],
    ['wOFF\0\0', 'font'],
    ['id,name\n', null],
    ['8BPS\0\0\0\0', null],
    ['RIFF\0\0\0\0what', null],
    ['', null],
  ])('of %j is %s', (bytes, kind) => {
    expect(firstLook(Buffer.from(bytes, 'latin1'))).toBe(kind);
  });
});
