import { describe, expect, it } from 'vitest';
import { markdownCells } from '#worker-image/engine/table/markdown-cells.ts';

describe('markdownCells', () => {
  it.each([
    ['| a | b |', ['a', 'b']],
    ['a | b', ['a', 'b']],
    ['| a', ['a']],
    ['', ['']],
    ['|', ['']],
    ['||', ['']],
    ['| | x |', ['', 'x']],
    [String.raw`| a \| b \\ | \x |`, [String.raw`a | b \ `.trim(), String.raw`\x`]],
    ['| a<br>b<br/>c<br />d |', ['a\nb\nc\nd']],
    ['| &amp;&lt;&nbsp;&#65;&#x42; |', ['&<\u00a0AB']],
    ['| &#0; &#x110000; &bogus; & |', ['\ufffd \ufffd &bogus; &']],
    ['| &#32;x&#32; |', [' x ']],
    [String.raw`| a \|`, [String.raw`a |`]],
    ['| `\\d+\\.\\d+` | `<br>` | `&lt;` |', ['`\\d+\\.\\d+`', '`<br>`', '`&lt;`']],
    ['| `a\\|b\\\\\\|` | ``c`\\.`` \\. |', ['`a|b\\\\|`', '``c`\\.`` .']],
    ['| ``\\.` `&lt;` |', ['``.` `<`']],
    ['| \\`\\.` \\\\`\\.` |', ['`.` \\\\`.`']],
    ['| `\\. | \\.` |', ['`.', '.`']],
  ])('splits %j', (line, cells) => {
    expect(markdownCells(line)).toEqual(cells);
  });

  it.each([
    ['backticks', '` `` ``` '.repeat(500_000)],
    ['backticks of many lengths', Array.from({ length: 4000 }, (_, length) => '`'.repeat(length)).join(' ')],
  ])('reads a row of %s in linear time', { timeout: 20_000 }, (_what, line) => {
    expect(markdownCells(line)).toEqual([line.trim()]);
  });

  it('splits a row of a million cells', () => {
    expect(markdownCells('|'.repeat(1_000_001))).toHaveLength(1_000_000);
  });
});
