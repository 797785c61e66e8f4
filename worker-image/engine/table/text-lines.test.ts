import { describe, expect, it } from 'vitest';
import { MAX_ROW_CHARS } from '#worker-image/engine/table/table-row.ts';
import { linesOf } from '#worker-image/engine/table/text-lines.ts';

async function* textOf(...pieces: readonly string[]): AsyncGenerator<string> {
  yield* pieces;
}

async function lines(...pieces: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for await (const line of linesOf(textOf(...pieces))) found.push(line);
  return found;
}

describe('linesOf', () => {
  it.each([
    [['a\nb\r\nc'], ['a', 'b', 'c']],
    [
      ['a\r', '\nb', 'c\n'],
      ['a', 'bc'],
    ],
    [['\n\n'], ['', '']],
    [[''], []],
    [['a\rb'], ['a\rb']],
  ])('yields the lines of %j', async (pieces, expected) => {
    expect(await lines(...pieces)).toEqual(expected);
  });

  it('refuses a line that is too long', async () => {
    const half = 'x'.repeat(MAX_ROW_CHARS / 2 + 1);
    await expect(lines(half, half)).rejects.toMatchObject({ code: 'limit_exceeded' });
  });
});
