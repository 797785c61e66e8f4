import { describe, expect, it } from 'vitest';
import { attachment, outputName } from '#api/files/output-name.ts';

describe('outputName', () => {
  it.each([
    ['photo.jpg', 'webp', 'photo.webp'],
    ['photo.v2.png', 'avif', 'photo.v2.avif'],
    ['photo', 'jpg', 'photo.jpg'],
    ['.png', 'jpg', '.png.jpg'],
    [null, 'jpg', 'file.jpg'],
  ] as const)('returns for %j as %s the name %s', (filename, format, name) => {
    expect(outputName(filename, { output_format: format })).toBe(name);
  });
});

describe('attachment', () => {
  it.each([
    ['photo.jpg', 'attachment; filename="photo.jpg"'],
    ['a b.jpg', 'attachment; filename="a b.jpg"'],
    ['a"b.jpg', 'attachment; filename="a\\"b.jpg"'],
    ['größe€.jpg', 'attachment; filename="gr??e?.jpg"; filename*=UTF-8\'\'gr%C3%B6%C3%9Fe%E2%82%AC.jpg'],
  ])('of %s is %s', (filename, header) => {
    expect(attachment(filename)).toBe(header);
  });
});
