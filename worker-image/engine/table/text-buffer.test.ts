import { describe, expect, it } from 'vitest';
import { Escapes, TextBuffer } from '#worker-image/engine/table/text-buffer.ts';
import { writeWtf8 } from '#worker-image/engine/table/wtf8.ts';

function escaped(text: string, escapes: Escapes): string {
  const source = Buffer.alloc(text.length * 3 + 2);
  const length = writeWtf8(source, 1, text);
  const out = new TextBuffer();
  out.appendText('<');
  out.appendEscaped(source, 1, 1 + length, escapes);
  out.append(Buffer.from('>'));
  return Buffer.from(out.take()).toString();
}

describe('TextBuffer', () => {
  const escapes = new Escapes({ '"': '""', '\0': '' }, (code) => `[${code.toString(16)}]`);

  it.each([
    ['', '<>'],
    ['"a"', '<""a"">'],
    ['a\0é', '<aé>'],
    ['힣\ud800', '<힣[d800]>'],
  ])('escapes %j', (text, expected) => {
    expect(escaped(text, escapes)).toBe(expected);
  });

  it('replaces a lone surrogate by U+FFFD unless a format has an escape for it', () => {
    expect(escaped('a\udc00b', new Escapes({}))).toBe('<a\ufffdb>');
  });

  it('replaces sequences, and only within a cell', () => {
    const sequences = new Escapes({});
    const found = { bytes: Buffer.from('-'), length: 2 };
    sequences.addSequence(0x61, (source, at, to) => (at + 2 <= to && source[at + 1] === 0x62 ? found : null));
    expect(escaped('abaacab', sequences)).toBe('<-aac->');
    expect(escaped('aba', sequences)).toBe('<-a>');
  });

  it('grows, and keeps the bytes that it returned last', () => {
    const long = '"é'.repeat(1_000_000);
    expect(escaped(long, escapes)).toBe(`<${long.replaceAll('"', '""')}>`);
    const out = new TextBuffer();
    out.appendText('first');
    const first = out.take();
    out.appendText('second');
    expect([Buffer.from(first).toString(), out.length]).toEqual(['first', 6]);
  });
});
