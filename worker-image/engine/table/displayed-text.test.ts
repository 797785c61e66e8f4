import { describe, expect, it } from 'vitest';
import { displayedText, type CellLine } from '#worker-image/engine/table/displayed-text.ts';

const line = (text: string, preformatted = false): CellLine => ({ text, preformatted });

describe('displayedText', () => {
  it.each<readonly [string, readonly CellLine[], string]>([
    ['nothing', [], ''],
    ['whitespace alone', [line(' \n\t ')], ''],
    ['collapsed whitespace', [line('  a \n\t b\u00a0 ')], 'a b\u00a0'],
    ['lines without empty ones around them', [line(''), line('a'), line(' '), line('b'), line('')], 'a\n\nb'],
    ['whitespace that is significant', [line('  a\n b ', true)], '  a\n b '],
  ])('returns %s', (_what, lines, text) => {
    expect(displayedText(lines)).toBe(text);
  });
});
