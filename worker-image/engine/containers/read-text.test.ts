import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { readText, readUtf8, utf16Name } from '#worker-image/engine/containers/read-text.ts';

let path = '';
beforeAll(async () => {
  path = join(await freshDirectory(), 'text');
});

async function textOf(bytes: Buffer, declared: string | null = null): Promise<{ text: string; warnings: string[] }> {
  await writeFile(path, bytes);
  const warnings: string[] = [];
  let text = '';
  const options = { declared: () => declared, warn: (warning: string) => void warnings.push(warning) };
  for await (const piece of readText(path, options)) text += piece;
  return { text, warnings };
}

async function utf8Of(content: Buffer): Promise<string> {
  await writeFile(path, content);
  const pieces: Uint8Array[] = [];
  for await (const piece of readUtf8(path)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');

describe('readText', () => {
  it.each<readonly [string, Buffer, string | null, string]>([
    ['UTF-8', Buffer.from('né'), null, 'né'],
    ['UTF-8 with a mark', bytes('efbbbf6ec3a9'), null, 'né'],
    ['UTF-8 in spite of a declaration', Buffer.from('né'), 'iso-8859-2', 'né'],
    ['UTF-16 with a mark', bytes('feff006e00e9'), null, 'né'],
    ['UTF-16 without a mark', Buffer.from('name;value\n', 'utf16le'), null, 'name;value\n'],
    [
      'UTF-16 without a mark whose later characters are not Latin',
      Buffer.from(`${'name;value\n'.repeat(50)}${'日本語'.repeat(1000)}`, 'utf16le'),
      null,
      `${'name;value\n'.repeat(50)}${'日本語'.repeat(1000)}`,
    ],
    ['a declared encoding', bytes('e9f1'), 'koi8-r', 'ИЯ'],
    ['a declared encoding of ASCII bytes', bytes('1b2442306c1b2842'), 'iso-2022-jp', '一'],
    ['an empty file', Buffer.alloc(0), null, ''],
  ])('reads %s without a warning', async (_what, content, declared, text) => {
    expect(await textOf(content, declared)).toEqual({ text, warnings: [] });
  });

  it('reads other bytes as Windows-1252, with a warning', async () => {
    const { text, warnings } = await textOf(bytes('6ee980'));
    expect([text, warnings.length]).toEqual(['né€', 1]);
  });

  it.each<readonly [string, Buffer, string | null, string, number]>([
    ['with a mark', bytes('efbbbf69640a8ee9'), null, 'id\n\ufffd\ufffd', 2],
    [
      'that is mostly valid',
      Buffer.concat([Buffer.from('日'.repeat(20)), bytes('e920')]),
      'koi8-r',
      `${'日'.repeat(20)}\ufffd `,
      1,
    ],
    ['with a truncated character', bytes(`efbbbf${'c3a9'.repeat(3)}e697`), null, 'ééé\ufffd', 1],
    ['by its declaration', bytes('61e962ff'), 'utf-8', 'a\ufffdb\ufffd', 2],
  ])('reads UTF-8 %s, with a warning of the invalid bytes', async (_what, content, declared, text, count) => {
    const found = await textOf(content, declared);
    expect(found.text).toBe(text);
    expect(found.warnings).toEqual([
      count === 1
        ? 'A sequence of bytes is not valid UTF-8: it was replaced by U+FFFD.'
        : `${count} sequences of bytes are not valid UTF-8: each was replaced by U+FFFD.`,
    ]);
  });

  it('reads a character that two chunks of the file share', async () => {
    const long = Buffer.concat([Buffer.alloc(256 * 1024 - 1, 'x'), Buffer.from('é')]);
    expect((await textOf(long)).text.endsWith('xé')).toBe(true);
  });

  it('does not read a file as UTF-8 that is invalid at its end only', async () => {
    const { text, warnings } = await textOf(Buffer.concat([Buffer.alloc(300_000, 'x'), bytes('c3')]));
    expect([text.at(-1), warnings.length]).toEqual(['Ã', 1]);
  });
});

describe('utf16Name', () => {
  it.each<readonly [string, Buffer, string | null]>([
    ['a little-endian mark', bytes('fffe'), 'utf-16le'],
    ['a big-endian mark', bytes('feff'), 'utf-16be'],
    ['Latin text', Buffer.from('name', 'utf16le'), 'utf-16le'],
    ['Latin text in big-endian order', Buffer.from('name', 'utf16le').swap16(), 'utf-16be'],
    ['half Latin text', Buffer.from('na日本', 'utf16le'), null],
    ['zeros at even and odd offsets', bytes('6100610000006100'), null],
    ['one character', bytes('6100'), null],
    ['UTF-8', Buffer.from('name'), null],
  ])('returns the name of UTF-16, or null, for %s', (_what, head, name) => {
    expect(utf16Name(head)).toBe(name);
  });
});

describe('readUtf8', () => {
  it.each<readonly [string, Buffer]>([
    ['UTF-8', Buffer.from('né')],
    ['UTF-8 with a mark', bytes('efbbbf6ec3a9')],
    ['UTF-8 with a mark twice', bytes('efbbbfefbbbf6ec3a9')],
    ['a mark alone', bytes('efbbbf')],
    ['UTF-16 with a mark', bytes('feff006e00e9')],
    ['Windows-1252', bytes('6ee980')],
    ['UTF-8 with a mark and invalid bytes', bytes('efbbbf6ee98e')],
    ['UTF-8 with few invalid bytes', Buffer.concat([Buffer.from('日'.repeat(20)), bytes('e920')])],
    ['an empty file', Buffer.alloc(0)],
    ['characters that two chunks of the file share', Buffer.from(`x${'日😀'.repeat(100_000)}`)],
    ['UTF-8 that is invalid at its end only', Buffer.concat([Buffer.alloc(300_000, 'x'), bytes('e697')])],
    [
      'UTF-8 that is invalid in a later chunk',
      Buffer.concat([Buffer.alloc(300_000, 'x'), bytes('80'), Buffer.alloc(9, 'x')]),
    ],
  ])('yields the text that readText yields for %s', async (_name, content) => {
    expect(await utf8Of(content)).toBe((await textOf(content)).text);
  });
});
