import { describe, expect, it } from 'vitest';
import { htmlCharset } from '#worker-image/engine/containers/html-charset.ts';

describe('htmlCharset', () => {
  it.each([
    ['<meta charset=windows-1251>', 'windows-1251'],
    ["<META CharSet = 'Shift_JIS'>", 'shift_jis'],
    ['<meta http-equiv="Content-Type" content="text/html; charset=latin1">', 'windows-1252'],
    ['<meta charset="utf-16le">', 'utf-8'],
    ['<meta charset="no such encoding">', null],
    ['<!-- <meta charset=koi8-r> --><meta charset=big5>', 'big5'],
    ['<!-- <meta charset=koi8-r>', null],
    ['<meta charset= " big5">', 'big5'],
    ['<p>charset=koi8-r</p>', null],
    [`<meta ${' '.repeat(501)}charset=koi8-r>`, null],
    ['', null],
  ])('returns the encoding that %j declares: %s', (page, encoding) => {
    expect(htmlCharset(Buffer.from(page, 'latin1'))).toBe(encoding);
  });

  it.each([
    ['comments without an end', '<!--'.repeat(16_000)],
    ['a declaration of spaces', `${'<meta '.repeat(80)}charset=${' '.repeat(60_000)}`],
  ])('searches %s in linear time', { timeout: 10_000 }, (_what, page) => {
    expect(htmlCharset(Buffer.from(page))).toBeNull();
  });
});
