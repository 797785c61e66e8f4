import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { zip, type ZipPart } from '#test/hostile/forge-zip.ts';
import { copyWithoutLinks } from '#worker-image/engine/office/copy-without-links.ts';

const LINKED = '<draw:image xlink:href="file:///etc/passwd"/>';
const UNLINKED = '<draw:image xlink:href=""/>';
const RELATIONSHIP =
  '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="http://example.com/a.png" TargetMode="External"/>';

let directory: string;
beforeEach(async () => {
  directory = await freshDirectory();
});

async function copyOf(format: Format, bytes: Buffer | string): Promise<{ path: string; copy: string }> {
  const path = join(directory, `input.${format}`);
  await writeFile(path, bytes);
  return { path, copy: await copyWithoutLinks({ path, format, directory }) };
}

async function entriesOf(format: Format, parts: readonly ZipPart[]): Promise<Record<string, string>> {
  const { copy } = await copyOf(format, zip(parts));
  const entries = Object.entries(unzipSync(await readFile(copy)));
  return Object.fromEntries(entries.map(([name, bytes]) => [name, Buffer.from(bytes).toString('latin1')]));
}

describe('copyWithoutLinks', () => {
  it('empties the links of a flat document', async () => {
    const { copy } = await copyOf('fodt', LINKED);
    expect(await readFile(copy, 'utf8')).toBe(UNLINKED);
  });

  it('empties the links in the XML of an OpenDocument package and copies its other entries', async () => {
    const parts = [
      { name: 'content.xml', data: LINKED },
      { name: 'Pictures/a.png', data: Buffer.from([0, 255, 128]) },
    ];
    expect(await entriesOf('odt', parts)).toEqual({ 'content.xml': UNLINKED, 'Pictures/a.png': '\0\u00ff\u0080' });
  });

  it('omits macros, folders and entries whose name occurred before', async () => {
    const parts = ['content.xml', 'content.xml', 'Basic/Standard/a.xml', 'Dialogs/a.xml', 'Scripts/a.py', 'Empty/'];
    const entries = await entriesOf(
      'ods',
      parts.map((name, index) => ({ name, data: `<a n="${index}"/>` })),
    );
    expect(entries).toEqual({ 'content.xml': '<a n="0"/>' });
  });

  it('removes the external relationships of a pptx and leaves its XML unchanged', async () => {
    const entries = await entriesOf('pptx', [
      { name: 'ppt/slides/_rels/slide1.xml.rels', data: `<Relationships>${RELATIONSHIP}</Relationships>` },
      { name: 'ppt/slides/slide1.xml', data: LINKED },
    ]);
    expect(entries['ppt/slides/_rels/slide1.xml.rels']).not.toContain('example.com');
    expect(entries['ppt/slides/slide1.xml']).toBe(LINKED);
  });

  it('returns the path of a document whose links LibreOffice does not follow', async () => {
    const { path, copy } = await copyOf('rtf', '{\\rtf1}');
    expect(copy).toBe(path);
  });

  it('throws for a damaged package', async () => {
    await expect(copyOf('odt', 'no archive')).rejects.toThrow('End of central directory');
  });
});
