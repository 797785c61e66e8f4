import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import { formatOfText } from '#worker-image/engine/identify/text.ts';

const format = (content: Buffer | string, filename: string | null = 'a.csv'): Promise<string | null> =>
  formatOfText({ ...fileReaderOf(Buffer.from(content as string)), filename });
const flat = (type: string): string =>
  `<?xml version="1.0"?><!-- c --><office:document office:mimetype="application/vnd.oasis.opendocument.${type}">`;

describe('formatOfText', () => {
  it.each<readonly [string, Buffer | string, string | null]>([
    ['UTF-8', 'né;1\n', 'csv'],
    ['UTF-16 with a mark', Buffer.from('\ufeffa;1\n', 'utf16le'), 'csv'],
    ['UTF-16 without a mark', Buffer.from('name;value\n', 'utf16le'), 'csv'],
    ['Windows-1252', Buffer.from('n\xe9;1\n', 'latin1'), 'csv'],
    ['UTF-8 with an invalid byte', Buffer.concat([Buffer.from('日本;日本\n'.repeat(9)), Buffer.of(0x8f)]), 'csv'],
    ['UTF-8 with a mark and an invalid byte', Buffer.from('efbbbf613b310a8f', 'hex'), 'csv'],
    ['a zero byte', 'a;b\0c\n', null],
    ['zero bytes at the end of a long file', Buffer.concat([Buffer.alloc(70_000, 'x'), Buffer.alloc(5)]), null],
    ['control characters', 'a\x01b', null],
    ['a few control characters', `${'a;b\n'.repeat(100)}\x1c;\x7f\n`, 'csv'],
  ])('of %s', async (_what, content, expected) => {
    expect(await format(content)).toBe(expected);
  });

  it('accepts a character that the first part of a long file cuts', async () => {
    expect(
      await format(Buffer.concat([Buffer.alloc(64 * 1024 - 1, 'x'), Buffer.from('é'), Buffer.alloc(50, 'x')])),
    ).toBe('csv');
  });

  it('reads the encoding that an HTML page declares', async () => {
    const page = Buffer.concat([Buffer.from('<meta charset=shift_jis>'), Buffer.from('8ac08e9a81408ac08e9a', 'hex')]);
    expect(await format(page, 'a.html')).toBe('html');
    await expect(format(page, 'a.csv')).rejects.toThrow('encoding');
  });

  it.each([
    ['text', 'fodt'],
    ['spreadsheet', 'fods'],
    ['presentation', 'fodp'],
  ])('recognizes a flat %s by its root element, whatever the name', async (type, expected) => {
    expect(await format(flat(type), 'a.csv')).toBe(expected);
    expect(await format(flat(type), null)).toBe(expected);
  });

  it.each<readonly [string, string, string | null]>([
    ['an SVG drawing', '<?xml version="1.0"?>\n<!-- <a> --><!DOCTYPE svg [<!ENTITY a "b">]>\n<svg:svg>', 'a.csv'],
    ['a playlist', '<smil>', 'a.html'],
    ['flat OpenDocument of another type', flat('graphics'), null],
    ['text without a name', 'a;b\n', null],
    ['text with the name of an image', 'a;b\n', 'a.png'],
  ])('refuses %s', async (_what, content, filename) => {
    await expect(format(content, filename)).rejects.toMatchObject({ code: 'unsupported_input' });
  });

  it('searches the root element of hostile text in linear time', async () => {
    expect(await format('<!-- '.repeat(13_000), 'a.html')).toBe('html');
    expect(await format(`${' '.repeat(60_000)}<`, 'a.html')).toBe('html');
  });
});
