import fc from 'fast-check';
import { Lexer, type Token, type Tokens } from 'marked';
import { describe, expect, it } from 'vitest';
import { markdownTables } from '#worker-image/engine/table/markdown-tables.ts';

async function rowsIn(text: string): Promise<string[]> {
  const rows: string[] = [];
  for await (const { table, line } of markdownTables(piecesOf(text))) rows.push(`${table}: ${line.trim()}`);
  return rows;
}

async function* piecesOf(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += 100_000) yield text.slice(at, at + 100_000);
}

/** Returns the same rows, found by marked in the whole text at once. */
function rowsByMarked(text: string): string[] {
  return tablesIn(Lexer.lex(text, { gfm: true })).flatMap(({ raw }, index) => {
    const [header = '', , ...body] = raw.trimEnd().split('\n');
    return [header, ...body].map((line) => `${index + 1}: ${line.trim()}`);
  });
}

function tablesIn(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token) =>
    token.type === 'list'
      ? (token as Tokens.List).items.flatMap((item) => tablesIn(item.tokens))
      : token.type === 'table'
        ? [token]
        : [],
  );
}

describe('the tables of a Markdown text', () => {
  it.each([
    ['indented code', 'text\n\n    | a |\n    |---|\n    | 1 |\n'],
    ['a comment', '<!--\n\n| a |\n|---|\n| 1 |\n\n-->\n'],
    ['a block quote', '> | a |\n> |---|\n> | 1 |\n'],
    ['fenced code', '~~~\n| a |\n|---|\n~~~\n'],
    ['a long comment', `<!--\n\n${'| a |\n|---|\n| 1 |\n\n'.repeat(5000)}-->\n`],
    ['long fenced code', `\`\`\`\n\n${'| a |\n|---|\n| 1 |\n\n'.repeat(5000)}\`\`\`\n`],
  ])('do not include a table in %s', async (_name, text) => {
    expect(await rowsIn(`${text}\n| b |\n|---|\n| 2 |\n`)).toEqual(['1: | b |', '1: | 2 |']);
  });

  it.each(['***', '- - -', '# title', '> quote', '- item', '```', '<div>', ''])('end before %j', async (line) => {
    expect(await rowsIn(`| a |\n|---|\n| 1 |\n${line}\n| 2 |\n`)).toEqual(['1: | a |', '1: | 1 |']);
  });

  it('include a table in a list', async () => {
    expect(await rowsIn('- item\n\n  | a |\n  |---|\n  | 1 |\n')).toEqual(['1: | a |', '1: | 1 |']);
  });

  it('keep every row of a long table in a list', async () => {
    const rows = Array.from({ length: 5000 }, (_, index) => `| ${index} |`);
    const text = `- item\n\n  | a |\n  |---|\n${rows.map((row) => `  ${row}\n`).join('')}`;
    expect(await rowsIn(text)).toEqual(['1: | a |', ...rows.map((row) => `1: ${row}`)]);
  });

  it('keep rows and headers that are too long for marked', async () => {
    const row = `| ${'x'.repeat(400_000)} | ${'y'.repeat(400_000)} |`;
    expect(await rowsIn(`${row}\n|---|---|\n${row}\n${row}\n`)).toEqual([`1: ${row}`, `1: ${row}`, `1: ${row}`]);
  });

  it('are the same whether marked reads the text in pieces or at once', async () => {
    const block = fc.constantFrom(
      '| a | b |\n|---|---|\n| 1 | 2 |\n',
      'text\nmore text\n',
      'a | b\n',
      '--- | ---\n',
      ':-:\n',
      '    | c |\n    |---|\n',
      '\n',
      '\n\n',
      '<!-- comment\n',
      '-->\n',
      '```\n',
      '> quote\n',
      '- item\n',
      '  continued\n',
      '<div>\n',
      '***\n',
      '[label]: /target\n',
      '| x | y |\n'.repeat(120),
      'text\n'.repeat(240),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(block, { minLength: 1, maxLength: 20 }), async (blocks) => {
        const text = blocks.join('');
        expect(await rowsIn(text)).toEqual(rowsByMarked(text));
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ['quote marks', '>'.repeat(10_000_000)],
    ['nested list marks', '- '.repeat(1_000_000)],
    ['pairs of lines that are almost a table', 'a|b\n:-:\n'.repeat(12_000)],
    ['lines of a quote', '> a\n'.repeat(20_000)],
    ['items of a list', '- a\n'.repeat(20_000)],
    ['open angle brackets', '<a '.repeat(1_000_000)],
    ['open brackets', '['.repeat(1_000_000)],
    ['columns', `|${'a|'.repeat(2_000_000)}\n|${'-|'.repeat(2_000_000)}\n`],
  ])('are found within the timeout in a text of %s', { timeout: 30_000 }, async (_name, text) => {
    expect(await rowsIn(text)).toEqual([]);
  });
});
