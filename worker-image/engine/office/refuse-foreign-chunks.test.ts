import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { docx } from '#test/hostile/forge-office.ts';
import { refuseForeignChunks } from '#worker-image/engine/office/refuse-foreign-chunks.ts';

async function refuseChunk(target: string, body: string): Promise<void> {
  const path = join(await freshDirectory(), 'document.docx');
  await writeFile(path, docx({ body, links: [{ id: 'chunk', type: 'aFChunk', target }] }));
  await refuseForeignChunks(path, 'docx');
}

const CHUNK = '<w:altChunk r:id="chunk"/>';

describe('refuseForeignChunks', () => {
  it.each(['/word/page.html', 'page.mht', 'afchunk.rtf', 'words.txt'])(
    'refuses a document that shows %s',
    async (target) => {
      await expect(refuseChunk(target, CHUNK)).rejects.toMatchObject({
        code: 'processing_failed',
        message: expect.stringContaining('altChunk') as string,
      });
    },
  );

  it('takes a Word document, which LibreOffice shows, and a part that is not used', async () => {
    await expect(refuseChunk('/word/afchunk.docx', CHUNK)).resolves.toBeUndefined();
    await expect(refuseChunk('page.html', '<w:altChunk r:id="other"/>')).resolves.toBeUndefined();
  });

  it('leaves a damaged package to LibreOffice', async () => {
    const path = join(await freshDirectory(), 'document.docx');
    await writeFile(path, 'no package');
    await expect(refuseForeignChunks(path, 'docx')).resolves.toBeUndefined();
  });
});
