/**
 * The matrix: every input format × every operation × every target, through the pool of engine processes
 * with the real tools, each result opened again and compared. `docs/reference/formats.md` is written from
 * what passed: `npx vitest run --project parts test/matrix -u`.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSamples } from '#api/samples/samples.ts';
import { CONVERT_TARGETS, DIRECT_KINDS, FORMAT_NAMES, FORMATS, type Format } from '#crds/formats.ts';
import type { Fixture } from '#test/fixtures/engine-work.ts';
import { makeFixtures } from '#test/fixtures/make-fixtures.ts';
import { CELLS, compressChoices, nameOf, type Cell } from '#test/matrix/cells.ts';
import { compareDocument } from '#test/matrix/compare-document.ts';
import { compareFont } from '#test/matrix/compare-font.ts';
import { compareImage, IMAGE_INPUTS, IMAGE_VARIANTS, type ImageInput } from '#test/matrix/compare-image.ts';
import { compareMedia } from '#test/matrix/compare-media.ts';
import { comparePdf } from '#test/matrix/compare-pdf.ts';
import { compareTable } from '#test/matrix/compare-table.ts';
import { startMatrixEngine, type MatrixEngine } from '#test/matrix/engine.ts';
import type { Look } from '#test/matrix/look.ts';
import { formatTables } from '#test/matrix/format-tables.ts';

const SAMPLES = join(import.meta.dirname, '../../api/samples/files');
const TABLES = join(import.meta.dirname, '../../docs/reference/formats.md');
const TIMEOUT_MS = 180_000;

const passed = new Set<string>();
/** Kind and format of what compress gave. */
const delivered = new Set<string>();
let engine: MatrixEngine;
let fixtures: readonly Fixture[];

beforeAll(async () => {
  engine = await startMatrixEngine();
  fixtures = await makeFixtures(engine.directory, ['image', 'pdf', 'media', 'table', 'font']);
}, TIMEOUT_MS);
afterAll(() => engine.close());

/** The file that stands for a format: a document is a published sample, everything else was just made. */
function fixtureOf(format: Format): Fixture {
  const image = IMAGE_INPUTS.find((input) => input.format === format);
  const found = fixtures.find((one) => (image === undefined ? one.format === format : one.name === image.name));
  if (found !== undefined) return found;
  const sample = loadSamples().all.find((one) => one.format === format && one.expected_error === null);
  if (sample === undefined) throw new Error(`there is no file of format ${format}`);
  return { name: sample.name, path: join(SAMPLES, sample.name), format };
}

async function work(cell: Cell, { path }: Fixture): Promise<Look> {
  const { operation, options, input } = cell;
  const file = await engine.process({ path, filename: `sample.${input}`, operation, options });
  expect(file.report.result).toMatchObject({ kind: FORMATS[input].kind, input_format: input });
  return { cell, file, source: path, directory: engine.directory };
}

async function compare(look: Look, image: ImageInput | undefined): Promise<void> {
  switch (FORMATS[look.cell.input].kind) {
    case 'image':
      if (image === undefined) throw new Error('no image is known by that name');
      return compareImage(look, image);
    case 'pdf':
      return comparePdf(look);
    case 'video':
    case 'audio':
      return compareMedia(look);
    case 'word':
    case 'sheet':
    case 'presentation':
      return compareDocument(look);
    case 'table':
      return compareTable(look);
    case 'font':
      return compareFont(look);
  }
}

/** A compressed file has the wanted format, or is the input; the two others always make what they are asked for. */
function expectFormat({ cell, file }: Look): void {
  const { output_format: format, kept_original: kept, output_size: size, original_size: before } = file.report.result;
  if (cell.operation === 'convert') expect(format).toBe(cell.target);
  if (cell.operation === 'strip_metadata') expect(format).toBe(cell.input);
  if (cell.operation !== 'convert') expect([cell.input, ...wantedFormats(cell)]).toContain(format);
  if (cell.operation !== 'compress') expect(kept).toBe(false);
  else if (kept) expect(size).toBe(before);
  else expect(size).toBeLessThanOrEqual(before);
}

function wantedFormats({ input, target }: Cell): readonly string[] {
  if (FORMATS[input].kind === 'pdf') return ['pdf'];
  if (target !== 'original') return [target];
  const row: { readonly raw?: true } = FORMATS[input];
  if (row.raw === true) return ['jpg'];
  if (input === 'wma') return ['m4a'];
  return input === 'tiff' || input === 'bmp' ? ['png', 'jpg'] : [input];
}

describe('the matrix', () => {
  it.concurrent.each(CELLS.filter(({ refusal }) => refusal === null).map((cell) => [nameOf(cell), cell] as const))(
    '%s',
    async (name, cell) => {
      const look = await work(cell, fixtureOf(cell.input));
      expectFormat(look);
      await compare(
        look,
        IMAGE_INPUTS.find(({ format }) => format === cell.input),
      );
      if (cell.operation === 'compress')
        delivered.add(`${look.file.report.result.kind} ${look.file.report.result.output_format}`);
      passed.add(name);
    },
    TIMEOUT_MS,
  );

  it.concurrent.each(
    IMAGE_VARIANTS.flatMap((image) => image.targets.map((target) => [image.name, target, image] as const)),
  )(
    '%s convert %s',
    async (name, target, image) => {
      const fixture = fixtures.find((one) => one.name === name);
      if (fixture === undefined) throw new Error(`no fixture ${name}`);
      const options = { convert: { to: target } };
      const cell: Cell = { input: image.format, operation: 'convert', target, options, refusal: null };
      await compare(await work(cell, fixture), image);
    },
    TIMEOUT_MS,
  );

  it.concurrent.each(FORMAT_NAMES.filter((format) => FORMATS[format].input))(
    '%s is refused everything else',
    async (input) => {
      for (const cell of CELLS.filter((one) => one.input === input && one.refusal !== null)) {
        const refusal = await work(cell, fixtureOf(input)).catch((error: unknown) => error);
        expect(refusal, nameOf(cell)).toMatchObject({ name: 'MediaError', code: cell.refusal });
        if (cell.refusal === 'unsupported_target') {
          const targets = CONVERT_TARGETS[FORMATS[input].kind].join(', ');
          expect(refusal).toMatchObject({ param: 'convert.to', message: expect.stringContaining(targets) });
        }
        passed.add(nameOf(cell));
      }
    },
    TIMEOUT_MS,
  );

  it.concurrent.each(
    FORMAT_NAMES.filter((format) => FORMATS[format].input && !DIRECT_KINDS.includes(FORMATS[format].kind)),
  )(
    '%s is not worked on while a request waits',
    async (input) => {
      const { path } = fixtureOf(input);
      const to = CONVERT_TARGETS[FORMATS[input].kind][0] ?? '';
      const asked = { path, filename: `sample.${input}`, operation: 'convert', options: { convert: { to } } } as const;
      await expect(engine.process({ ...asked, lane: 'direct' })).rejects.toMatchObject({ code: 'use_async_job' });
    },
    TIMEOUT_MS,
  );

  it.each(['image', 'video', 'audio'] as const)('has %s files compressed to every format on offer', (kind) => {
    const offered = compressChoices(kind).filter((target) => target !== 'original');
    expect(offered.filter((format) => !delivered.has(`${kind} ${format}`))).toEqual([]);
  });

  it('is what the published tables say', async () => {
    expect(passed.size).toBe(CELLS.length);
    await expect(formatTables(passed)).toMatchFileSnapshot(TABLES);
  });
});
