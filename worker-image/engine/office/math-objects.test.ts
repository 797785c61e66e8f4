import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { engineDeps, freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { docx } from '#test/hostile/forge-office.ts';
import { wordHandler } from '#worker-image/engine/office/office-handler.ts';

const FORMULA =
  '<w:p><m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r><m:t>Q=42</m:t></m:r></m:oMath></w:p>';

async function convert(path: string, to: 'docx' | 'pdf'): Promise<string> {
  const work = await workOn({ path, format: 'docx', operation: 'convert', options: { convert: { to } } });
  return (await runHandler(wordHandler, work)).path;
}

async function pdfText(path: string): Promise<string> {
  const { signal } = new AbortController();
  const command = { file: 'pdftotext', args: [path, '-'], directory: await freshDirectory(), signal };
  return (await engineDeps().run({ ...command, timeoutSeconds: 30 })).stdout;
}

describe('a formula of a document', () => {
  it('is kept', async () => {
    const path = join(await freshDirectory(), 'formula.docx');
    await writeFile(path, docx({ body: FORMULA }));
    const again = await convert(path, 'docx');
    for (const one of [path, again]) {
      const text = await pdfText(await convert(one, 'pdf'));
      expect(text.replaceAll(/\s/g, '')).toContain('Q=42');
    }
  });
});
