import { describe, expect, it } from 'vitest';
import { responseFilename } from '#api/transfers/response-filename.ts';

describe('responseFilename', () => {
  it.each([
    [null, 'https://example.com/a/photo.jpg?size=2#x', 'photo.jpg'],
    [null, 'https://example.com/caf%C3%A9%20menu.pdf', 'café menu.pdf'],
    [null, 'https://example.com/a%2F..%2Fb.png', 'b.png'],
    [null, 'https://example.com/100%.png', '100%.png'],
    [null, 'https://example.com/', null],
    [null, 'https://example.com', null],
    ['attachment; filename="report.csv"', 'https://example.com/x.bin', 'report.csv'],
    ['attachment; filename="e.csv"; filename*=UTF-8\'\'%e2%82%ac.csv', 'https://example.com/x.bin', '€.csv'],
    ['attachment; filename="../../etc/passwd"', 'https://example.com/x.bin', 'passwd'],
    ['attachment; filename="C:\\\\temp\\\\a.doc"', 'https://example.com/x.bin', 'a.doc'],
    ['attachment; filename="日本.png"', 'https://example.com/x.bin', '日本.png'],
    ['attachment', 'https://example.com/x.bin', 'x.bin'],
    ['attachment; filename=""', 'https://example.com/x.bin', 'x.bin'],
    ['; nonsense =', 'https://example.com/x.bin', 'x.bin'],
  ])('returns for the header %s and the URL %s the name %s', (disposition, url, expected) => {
    expect(responseFilename(disposition, url)).toBe(expected);
  });

  it('drops control characters and keeps the end of a long name with its extension', () => {
    expect(responseFilename(null, 'https://example.com/a%0d%0ab.png')).toBe('ab.png');
    const name = responseFilename(null, `https://example.com/${'x'.repeat(400)}.png`);
    expect(name).toHaveLength(255);
    expect(name).toMatch(/x\.png$/);
  });
});
