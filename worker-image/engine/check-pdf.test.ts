import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { outputOf, outputOfFile } from '#test/fixtures/encoder-output.ts';
import { engineDeps, freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { sharedFixtures } from '#test/fixtures/make-fixtures.ts';
import { photo } from '#test/fixtures/make-image-fixtures.ts';
import { flatDocument } from '#test/fixtures/make-office-fixtures.ts';
import { checkPdf } from '#worker-image/engine/check-pdf.ts';
import { encodePdf } from '#worker-image/engine/image/encode/encode-pdf.ts';
import { presentationHandler, wordHandler } from '#worker-image/engine/office/office-handler.ts';
import { pdfHandler } from '#worker-image/engine/pdf/pdf-handler.ts';
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

describe('streams of the PDF', () => {
  it.each<readonly [string, () => Promise<string>]>([
    ['an image without loss', () => written(() => outputOf(sharp({ create: TRANSPARENT })))],
    ['a JPEG', () => written(async () => outputOfFile('jpg', await photo(200, 100).jpeg().toBuffer()))],
    ['compress', async () => compressed(await photosPath())],
    ['qpdf', async () => packed(await photosPath())],
    ['a text with a photo', async () => converted('fodt', await textWithPhoto())],
    ['a text document', () => converted('docx', samplePath('letter.docx'))],
    ['a presentation', () => converted('pptx', samplePath('slides.pptx'))],
  ])('are read without qpdf --check in the output of %s', async (_what, write) => {
    const commands: string[] = [];
    const run: typeof deps.run = (command) => {
      commands.push(command.args.join(' '));
      return deps.run(command);
    };
    await checkPdf({ ...deps, run }, await freshDirectory(), await write());
    expect(commands.filter((command) => command.startsWith('--check'))).toEqual([]);
  });
});

const TRANSPARENT = { width: 200, height: 100, channels: 4, background: '#22558880' } as const;

async function photosPath(): Promise<string> {
  const fixture = (await sharedFixtures('pdf')).find(({ name }) => name === 'photos');
  return fixture?.path ?? '';
}

function samplePath(name: string): string {
  return join(import.meta.dirname, '../../api/data/samples', name);
}

async function written(output: () => ReturnType<typeof outputOf>): Promise<string> {
  const image = await output();
  await encodePdf(engineDeps(), image);
  return image.path;
}

async function compressed(path: string): Promise<string> {
  return (await runHandler(pdfHandler, await workOn({ path, format: 'pdf', operation: 'compress' }))).path;
}

async function packed(source: string): Promise<string> {
  const directory = await freshDirectory();
  const path = join(directory, 'packed.pdf');
  const args = ['--object-streams=generate', '--compress-streams=y', source, path];
  await deps.run({ file: 'qpdf', args, directory, signal: deps.signal, timeoutSeconds: 60 });
  return path;
}

async function textWithPhoto(): Promise<string> {
  const path = join(await freshDirectory(), 'photo.fodt');
  const data = (await photo(400, 300).jpeg().toBuffer()).toString('base64');
  const image = `<draw:image><office:binary-data>${data}</office:binary-data></draw:image>`;
  const frame = `<draw:frame text:anchor-type="as-char" svg:width="8cm" svg:height="6cm">${image}</draw:frame>`;
  await writeFile(path, flatDocument('text', `<text:p>A photo: ${frame}</text:p>`));
  return path;
}

async function converted(format: Format, path: string): Promise<string> {
  const handler = format === 'pptx' ? presentationHandler : wordHandler;
  const work = await workOn({ path, format, operation: 'convert', options: { convert: { to: 'pdf' } } });
  return (await runHandler(handler, work)).path;
}
