import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { docx } from '#test/hostile/forge-office.ts';
import { refuseAltChunks } from '#worker-image/engine/office/refuse-alt-chunks.ts';

async function refuseChunk(target: string, body: string): Promise<void> {
  const path = join(await freshDirectory(), 'document.docx');
  await writeFile(path, docx({ body, links: [{ id: 'chunk', type: 'aFChunk', target }] }));
  await refuseAltChunks(path, 'docx');
}

const CHUNK = '<w:altChunk r:id="chunk"/>';

describe('refuseAltChunks', () => {
  it.each(['/word/page.html', 'page.mht', 'afchunk.rtf', 'words.txt'])(
    'refuses a document that includes %s',
    async (target) => {
      await expect(refuseChunk(target, CHUNK)).rejects.toMatchObject({
        code: 'processing_failed',
        message: expect.stringContaining('altChunk') as string,
      });
    },
  );

  it('accepts an embedded Word document, which LibreOffice merges, and an unused part', async () => {
    await expect(refuseChunk('/word/afchunk.docx', CHUNK)).resolves.toBeUndefined();
    await expect(refuseChunk('page.html', '<w:altChunk r:id="other"/>')).resolves.toBeUndefined();
  });

  it('leaves a damaged package to LibreOffice', async () => {
    const path = join(await freshDirectory(), 'document.docx');
    await writeFile(path, 'no package');
    await expect(refuseAltChunks(path, 'docx')).resolves.toBeUndefined();
  });
});
