import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { sharedFixtures } from '#test/fixtures/make-fixtures.ts';
import { checkPdf } from '#worker-image/engine/check-pdf.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';

const deps = { run: makeRunCommand(), signal: new AbortController().signal };

it('accepts a PDF with pages', async () => {
  const photos = (await sharedFixtures('pdf')).find(({ name }) => name === 'photos');
  await checkPdf(deps, await freshDirectory(), photos?.path ?? '');
});

it('refuses a PDF without pages, in which qpdf finds no fault', async () => {
  const directory = await freshDirectory();
  const path = join(directory, 'empty.pdf');
  await deps.run({ file: 'qpdf', args: ['--empty', path], directory, signal: deps.signal, timeoutSeconds: 60 });
  await expect(checkPdf(deps, directory, path)).rejects.toThrow('The PDF output has no pages.');
});

it('refuses a file that qpdf cannot read', async () => {
  const directory = await freshDirectory();
  const path = join(directory, 'text.pdf');
  await writeFile(path, 'text');
  await expect(checkPdf(deps, directory, path)).rejects.toThrow('The PDF output has faults.');
});
