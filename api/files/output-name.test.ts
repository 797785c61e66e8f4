import { parse } from 'content-disposition';
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
    ['a; filename=x.png', 'attachment; filename="a; filename=x.png"'],
    ['a"; filename=evil.html; .png', 'attachment; filename="a\\"; filename=evil.html; .png"'],
    ['%0d%0a', 'attachment; filename="%0d%0a"; filename*=UTF-8\'\'%250d%250a'],
    ['写真.jpg', 'attachment; filename="??.jpg"; filename*=UTF-8\'\'%E5%86%99%E7%9C%9F.jpg'],
    ['größe€.jpg', 'attachment; filename="gr??e?.jpg"; filename*=UTF-8\'\'gr%C3%B6%C3%9Fe%E2%82%AC.jpg'],
  ])('of %s is %s', (filename, header) => {
    expect(attachment(filename)).toBe(header);
  });

  it.each([
    ['photo.jpg'],
    ['a; filename=x.png'],
    ['a"; filename=evil.html; .png'],
    ["a; filename*=UTF-8''evil.html"],
    ['back\\slash".png'],
    ['%0d%0a'],
    ['$1 $& "$`.png'],
    ['写真; filename=x.jpg'],
    ['отчёт.csv'],
  ])('of %s is parsed to the same name', (filename) => {
    const { type, parameters } = parse(attachment(filename));
    expect(type).toBe('attachment');
    expect(parameters['filename']).toBe(filename);
  });
});
