import { describe, expect, it } from 'vitest';
import { lastComponent, partSizes } from '#api/uploads/upload.ts';

describe('lastComponent', () => {
  // Promise, Bad input, case by case: File names
  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\x\\y.png', 'y.png'],
    ['отчёт.png', 'отчёт.png'],
    ['a\r\nX: y\u0000.png', 'aX: y.png'],
    [' padded.csv ', 'padded.csv'],
    ['\ud800.jpg', '\ufffd.jpg'],
  ])('returns for %j the name %j', (sent, name) => {
    expect(lastComponent(sent)).toBe(name);
  });

  it.each([[''], ['.'], ['..'], ['a/'], ['\u0000'], [null], [undefined]])('returns null for %j', (sent) => {
    expect(lastComponent(sent)).toBeNull();
  });

  it.each([
    ['the extension', `${'a'.repeat(300)}.csv`, `${'a'.repeat(251)}.csv`],
    ['whole characters', `${'a'.repeat(254)}😀😀`, `${'a'.repeat(254)}😀`],
    ['the start when the text after the dot is not an extension', `a.${'b'.repeat(300)}`, `a.${'b'.repeat(253)}`],
  ])('truncates a long name to 255 characters and keeps %s', (_what, sent, name) => {
    expect(lastComponent(sent)).toBe(name);
  });
});

describe('partSizes', () => {
  it('returns the remainder as the size of the last part', () => {
    expect(partSizes(2 * 67_108_864 + 5)).toEqual([67_108_864, 67_108_864, 5]);
  });
});
