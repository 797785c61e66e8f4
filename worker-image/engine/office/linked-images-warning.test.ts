import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { odf } from '#test/hostile/forge-office.ts';
import { zip } from '#test/hostile/forge-zip.ts';
import { linkedImagesWarnings } from '#worker-image/engine/office/linked-images-warning.ts';

async function warningsOf(bytes: Buffer, format: Format): Promise<string[]> {
  const path = join(await freshDirectory(), `document.${format}`);
  await writeFile(path, bytes);
  return linkedImagesWarnings(path, format);
}

const ONE = ['A linked image was omitted: links of documents are not followed.'];
const TWO = ['2 linked images were omitted: links of documents are not followed.'];

describe('linkedImagesWarnings', () => {
  it.each([
    ['<a:blip r:embed="rId1"/>', []],
    ['<a:blip r:embed="rId1" r:link="rId2"/><a:blip r:link="rId2" r:embed="rId1"></a:blip>', []],
    ['<a:blip r:link="rId2"/><a:blip r:embed="rId1"/>', ONE],
    ['<a:blip cstate="print" r:link="rId2"></a:blip><a:blip r:link="rId3"/>', TWO],
  ])('for the images %j of Office Open XML are %j', async (images, warnings) => {
    const data = `<x>${images}</x>`;
    for (const [format, name] of [
      ['docx', 'word/document.xml'],
      ['pptx', 'ppt/slides/slide1.xml'],
      ['xlsx', 'xl/drawings/drawing1.xml'],
    ] as const)
      expect(await warningsOf(zip([{ name, data }]), format)).toEqual(warnings);
  });

  it.each([
    ['Pictures/1.png', []],
    ['./Pictures/1.png', []],
    ['https://example.com/1.png', ONE],
    ['file:///C:/1.png', ONE],
    ['../1.png', ONE],
  ])('for the address %s of an OpenDocument image are %j', async (address, warnings) => {
    const body = `<text:p><draw:frame><draw:image xlink:href="${address}" xlink:type="simple"/></draw:frame></text:p>`;
    for (const format of ['odt', 'fodt'] as const)
      expect(await warningsOf(odf(format === 'fodt', { type: 'text', body }), format)).toEqual(warnings);
  });

  it('are none for other formats and damaged files', async () => {
    expect(await warningsOf(Buffer.from('no package'), 'docx')).toEqual([]);
    expect(await warningsOf(Buffer.from('{\\rtf1}'), 'rtf')).toEqual([]);
  });
});
