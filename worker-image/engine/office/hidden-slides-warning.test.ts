import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { odf } from '#test/hostile/forge-office.ts';
import { zip } from '#test/hostile/forge-zip.ts';
import { hiddenSlidesWarnings } from '#worker-image/engine/office/hidden-slides-warning.ts';

const XML = '<?xml version="1.0"?>';

async function warningsOf(slides: readonly string[]): Promise<string[]> {
  const path = join(await freshDirectory(), 'slides.pptx');
  const parts = slides.map((root, at) => ({
    name: `ppt/slides/slide${at + 1}.xml`,
    data: `${XML}${root}<p:cSld/></p:sld>`,
  }));
  await writeFile(path, zip([{ name: 'ppt/presentation.xml', data: '<p:presentation show="0"/>' }, ...parts]));
  return hiddenSlidesWarnings(path, 'pptx');
}

describe('hiddenSlidesWarnings', () => {
  it.each([
    [['<p:sld xmlns:p="p">'], []],
    [['<p:sld xmlns:p="p" show="1">'], []],
    [['<p:sld xmlns:p="p" show="0">', '<p:sld xmlns:p="p">'], ['A hidden slide was omitted.']],
    [["<sld show='false'>", '<p:sld show="0" a="b">'], ['2 hidden slides were omitted.']],
  ])('for slides that begin with %j are %j', async (slides, warnings) => {
    expect(await warningsOf(slides)).toEqual(warnings);
  });

  it.each([
    ['odp', false],
    ['fodp', true],
  ] as const)('count the slides of %s with a style that hides them', async (format, flat) => {
    const style = (name: string, visibility: string): string =>
      `<style:style style:name="${name}" style:family="drawing-page"><style:drawing-page-properties presentation:visibility="${visibility}"/></style:style>`;
    const before = `<office:automatic-styles>${style('dp1', 'visible')}${style('dp2', 'hidden')}</office:automatic-styles>`;
    const body = ['dp1', 'dp2', 'dp2'].map((name) => `<draw:page draw:name="x" draw:style-name="${name}"/>`).join('');
    const path = join(await freshDirectory(), `slides.${format}`);
    await writeFile(path, odf(flat, { type: 'presentation', before, body }));
    expect(await hiddenSlidesWarnings(path, format)).toEqual(['2 hidden slides were omitted.']);
  });

  it('are none for a file that is no package', async () => {
    const path = join(await freshDirectory(), 'broken.pptx');
    await writeFile(path, 'no package');
    expect(await hiddenSlidesWarnings(path, 'pptx')).toEqual([]);
  });
});
