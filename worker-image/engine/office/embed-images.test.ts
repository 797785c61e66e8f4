import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { embedImages } from '#worker-image/engine/office/embed-images.ts';

async function embedded(html: string, files: Readonly<Record<string, string>>, maxChars?: number): Promise<string> {
  const directory = join(await freshDirectory(), 'out');
  await mkdir(directory);
  const path = join(directory, 'page.html');
  await writeFile(path, html);
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  await embedImages({ path, directory, ...(maxChars === undefined ? {} : { maxChars }) });
  return readFile(path, 'utf8');
}

describe('embedImages', () => {
  it('replaces the addresses of files beside the page, by their types', async () => {
    const html = await embedded('<img src="a.png"><img src="b.svg">', { 'a.png': 'one', 'b.svg': 'two' });
    expect(html).toBe('<img src="data:image/png;base64,b25l"><img src="data:image/svg;base64,dHdv">');
  });

  it.each([
    ['another address', '<img src="https://example.com/a.png">'],
    ['a path out of the directory', '<img src="../page.html"><img src="/etc/hostname">'],
    ['the page itself', '<img src="page.html">'],
    ['an address that is a property name', '<img src="__proto__">'],
  ])('leaves %s as it is', async (_what, html) => {
    expect(await embedded(html, { 'a.png': 'one' })).toBe(html);
  });

  it('replaces an address wherever two pieces of the page meet', async () => {
    // The page is read in pieces of 64 KiB.
    for (let before = 64 * 1024 - 20; before <= 64 * 1024; before += 1) {
      const html = await embedded(`${'x'.repeat(before)}<img src="a.png">é`, { 'a.png': 'one' });
      expect(html.slice(before)).toBe('<img src="data:image/png;base64,b25l">é');
    }
  });

  it('refuses an image that the page names so often that its copies exceed the limit', async () => {
    const page = (times: number): string => '<img src="a.png">'.repeat(times);
    expect(await embedded(page(10), { 'a.png': 'one' }, 40)).toBe('<img src="data:image/png;base64,b25l">'.repeat(10));
    await expect(embedded(page(11), { 'a.png': 'one' }, 40)).rejects.toMatchObject({ code: 'limit_exceeded' });
  });

  it('leaves no other file beside the page', async () => {
    const directory = join(await freshDirectory(), 'out');
    await mkdir(directory);
    const path = join(directory, 'page.html');
    await writeFile(path, '<img src="a.png">');
    await writeFile(join(directory, 'a.png'), 'one');
    await embedImages({ path, directory });
    expect((await readdir(directory)).toSorted()).toEqual(['a.png', 'page.html']);
  });
});
