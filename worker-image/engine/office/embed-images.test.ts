import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { embedImages } from '#worker-image/engine/office/embed-images.ts';

async function embedded(html: string, files: Readonly<Record<string, string>>): Promise<string> {
  const directory = join(await freshDirectory(), 'out');
  await mkdir(directory);
  const path = join(directory, 'page.html');
  await writeFile(path, html);
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  await embedImages({ path, directory });
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
});
