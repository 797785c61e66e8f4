import { describe, expect, it } from 'vitest';
import { visibleJson, visibleLine, visibleText } from '#crds/process/visible-text.ts';

describe('visible text', () => {
  it.each([
    ['a terminal sequence', 'a\u001b[2Jb', 'a\\u001b[2Jb'],
    ['a terminal sequence of one 8-bit character', 'a\u009b2Jb', 'a\\u009b2Jb'],
    ['a carriage return that overwrites the line', 'evil\rgood', 'evil\\u000dgood'],
    ['a line break', 'one\ntwo', 'one\\u000atwo'],
    ['a backspace and a bell', 'a\b\u0007', 'a\\u0008\\u0007'],
    ['a direction override', 'photo\u202egpj.exe', 'photo\\u202egpj.exe'],
    ['a direction isolate', '\u2067abc\u2069', '\\u2067abc\\u2069'],
    ['a direction mark', 'a\u200fb\u061c', 'a\\u200fb\\u061c'],
    ['a space without width', 'own\u200ber', 'own\\u200ber'],
    ['a joiner in Latin letters', 'own\u200der', 'own\\u200der'],
    ['a soft hyphen', 'own\u00ader', 'own\\u00ader'],
    ['a byte order mark', '\ufeffname', '\\ufeffname'],
    ['a filler that is blank', 'a\u3164b', 'a\\u3164b'],
    ['a tag character', 'a\u{e0041}b', 'a\\udb40\\udc41b'],
    ['a line separator', 'a\u2028b', 'a\\u2028b'],
    ['half a character', 'a\ud800b', 'a\\ud800b'],
  ])('escapes %s', (_what, text, shown) => {
    expect(visibleLine(text)).toBe(shown);
  });

  it.each(['photo.jpg', 'Übergröße – 写真.png', 'a b', '👩‍👩‍👧 ❤️.png', 'می‌خواهم', 'क्‍ष', 'שלום', '<b>&"'])(
    'does not change %j',
    (text) => {
      expect(visibleLine(text)).toBe(text);
    },
  );

  it('keeps the line breaks of a longer text', () => {
    expect(visibleText('one\n\ttwo\u001b')).toBe('one\n\ttwo\\u001b');
  });

  it('does not change the value of JSON', () => {
    const value = { name: 'a\u202e\u009b\u{e0041}b', emoji: '👩‍👧' };
    const json = visibleJson(`${JSON.stringify(value)}\n`);
    expect(json).not.toMatch(/[\u202e\u009b]/);
    expect(JSON.parse(json)).toEqual(value);
  });
});
