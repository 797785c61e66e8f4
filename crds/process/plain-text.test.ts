import { describe, expect, it } from 'vitest';
import { PLAIN_TEXT, plainText } from '#crds/process/plain-text.ts';

describe('plainText', () => {
  it.each([
    ['control characters', 'a\r\n\u0000b', 'a b'],
    ['escape sequences of terminals', '\u001b[2Jgone', '[2Jgone'],
    ['direction marks', 'exe.\u202egpj', 'exe. gpj'],
    ['halves of surrogate pairs', 'a\ud800b', 'a b'],
    ['line separators', 'a\u2028b', 'a b'],
    ['nothing of other scripts', '写真 – Übergröße', '写真 – Übergröße'],
  ])('replaces %s', (_what, text, expected) => {
    expect(plainText(text, 100)).toBe(expected);
    expect(PLAIN_TEXT.test(expected)).toBe(true);
    expect(PLAIN_TEXT.test(text)).toBe(text === expected);
  });

  it('cuts the text to the maximum', () => {
    expect(plainText('  abcdef', 3)).toBe('abc');
    expect(plainText('ab😀', 3)).toBe('ab\ufffd');
  });
});
