import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { partsOf, wholeTags } from '#worker-image/engine/office/document-parts.ts';

async function pieces(...chunks: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for await (const piece of wholeTags(Readable.from(chunks.map((chunk) => Buffer.from(chunk))))) found.push(piece);
  return found;
}

async function partsIn(bytes: Uint8Array, names: RegExp | null): Promise<string[]> {
  const path = join(await freshDirectory(), 'document');
  await writeFile(path, bytes);
  const found: string[] = [];
  for await (const part of partsOf(path, names)) found.push((await pieces(String(await part.toArray()))).join(''));
  return found;
}

describe('wholeTags', () => {
  it.each([
    [['<a b="1"/><c/>'], ['<a b="1"/><c/>']],
    [
      ['<a b=', '"1"/>text'],
      ['', '<a b="1"/>text'],
    ],
    [
      ['<', 'a', '>'],
      ['', '', '<a>'],
    ],
    [['text <a'], ['text ']],
  ])('yields %j in pieces that end outside of tags', async (chunks, expected) => {
    expect(await pieces(...chunks)).toEqual(expected);
  });

  it('does not collect a tag without end', async () => {
    const chunks = Array.from({ length: 100 }, () => 'x'.repeat(1000));
    const found = await pieces('<', ...chunks);
    expect(found.join('').length).toBeGreaterThan(90_000);
  });
});

describe('partsOf', () => {
  const document = zipSync({ 'a/1.xml': strToU8('<one/>'), 'a/2.xml': strToU8('<two/>'), 'b.xml': strToU8('<no/>') });

  it('yields the parts whose names match, or the whole file', async () => {
    expect(await partsIn(document, /^a\//)).toEqual(['<one/>', '<two/>']);
    expect(await partsIn(strToU8('<flat/>'), null)).toEqual(['<flat/>']);
  });

  it('throws for a truncated package', async () => {
    await expect(partsIn(document.subarray(0, -10), /./)).rejects.toThrow();
  });
});
