/**
 * The matrix: every input format × every operation × every target in the pool of engine processes, with real tools.
 * Each result is opened and compared with its input. `npx vitest run --project parts test/matrix -u` writes
 * `docs/reference/formats.md` from the cells that passed.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSamples } from '#api/samples/samples.ts';
import { CONVERT_TARGETS, DIRECT_KINDS, FORMAT_NAMES, FORMATS, type Format } from '#crds/catalogue/formats.ts';
import type { Fixture } from '#test/fixtures/engine-work.ts';
import { sharedFixtures } from '#test/fixtures/make-fixtures.ts';
import { CELLS, compressChoices, nameOf, type Cell } from '#test/matrix/cells.ts';
import { compareDocument } from '#test/matrix/compare-document.ts';
import { compareFont } from '#test/matrix/compare-font.ts';
import { compareImage, IMAGE_INPUTS, IMAGE_VARIANTS, type ImageInput } from '#test/matrix/compare-image.ts';
import { compareMedia } from '#test/matrix/compare-media.ts';
import { comparePdf } from '#test/matrix/compare-pdf.ts';
import { compareTable } from '#test/matrix/compare-table.ts';
import { startMatrixEngine, type EngineRequest, type MatrixEngine } from '#test/matrix/engine.ts';
import type { Comparison } from '#test/matrix/comparison.ts';
import { formatTables } from '#test/matrix/format-tables.ts';

const SAMPLES = join(import.meta.dirname, '../../api/data/samples');
const TABLES = join(import.meta.dirname, '../../docs/reference/formats.md');
const TIMEOUT_MS = 180_000;
const INPUTS = FORMAT_NAMES.filter((format) => FORMATS[format].input);

const passed = new Set<string>();
/** Kinds and formats that compress returned. */
const delivered = new Set<string>();
let engine: MatrixEngine;
let fixtures: readonly Fixture[];

beforeAll(async () => {
  engine = await startMatrixEngine();
  fixtures = await sharedFixtures('image', 'pdf', 'video', 'audio', 'table', 'font');
}, TIMEOUT_MS);
afterAll(() => engine.close());

/** Returns the input file of a format: a published sample for documents, else a fixture. */
function fixtureOf(format: Format): Fixture {
  const image = IMAGE_INPUTS.find((input) => input.format === format);
  const found = fixtures.find((one) => (image === undefined ? one.format === format : one.name === image.name));
  if (found !== undefined) return found;
  const sample = loadSamples().all.find((one) => one.format === format && one.expected_error === null);
  if (sample === undefined) throw new Error(`there is no file of format ${format}`);
  return { name: sample.name, path: join(SAMPLES, sample.name), format };
}

async function work(cell: Cell, fixture: Fixture): Promise<Comparison> {
  const { input } = cell;
  const file = await engine.process(requestOf(cell, fixture));
  expect(file.report.result).toMatchObject({ kind: FORMATS[input].kind, input_format: input });
  return { cell, file, source: fixture.path, directory: engine.directory };
}

function requestOf({ operation, options, input }: Cell, { path }: Fixture): EngineRequest {
  return { path, filename: `sample.${input}`, operation, options };
}

async function compare(comparison: Comparison, image: ImageInput | undefined): Promise<void> {
  switch (FORMATS[comparison.cell.input].kind) {
    case 'image':
      if (image === undefined) throw new Error('no image is known by that name');
      return compareImage(comparison, image);
    case 'pdf':
      return comparePdf(comparison);
    case 'video':
    case 'audio':
      return compareMedia(comparison);
    case 'word':
    case 'sheet':
    case 'presentation':
      return compareDocument(comparison);
    case 'table':
      return compareTable(comparison);
    case 'font':
      return compareFont(comparison);
  }
}

/**
 * Returns the error of a refused file. The first format of each kind is refused in an engine process, which is replaced
 * then: that takes longer than all other refusals here.
 */
function refusalIn(input: Format | null, request: EngineRequest): Promise<unknown> {
  const isFirst = input !== null && INPUTS.find((one) => FORMATS[one].kind === FORMATS[input].kind) === input;
  const made = isFirst ? engine.process(request) : engine.processHere(request);
  return made.catch((error: unknown) => error);
}

/** Asserts the output format. Compress may return the input; the other operations return the requested format. */
function expectFormat({ cell, file }: Comparison): void {
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
      const comparison = await work(cell, fixtureOf(cell.input));
      expectFormat(comparison);
      await compare(
        comparison,
        IMAGE_INPUTS.find(({ format }) => format === cell.input),
      );
      if (cell.operation === 'compress')
        delivered.add(`${comparison.file.report.result.kind} ${comparison.file.report.result.output_format}`);
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

  it.concurrent.each(INPUTS)(
    '%s is refused for all other operations and targets',
    async (input) => {
      const cells = CELLS.filter((one) => one.input === input && one.refusal !== null);
      for (const [number, cell] of cells.entries()) {
        const refusal = await refusalIn(number === 0 ? input : null, requestOf(cell, fixtureOf(input)));
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

  it.concurrent.each(INPUTS.filter((format) => !DIRECT_KINDS.includes(FORMATS[format].kind)))(
    '%s is refused for direct requests',
    async (input) => {
      const { path } = fixtureOf(input);
      const to = CONVERT_TARGETS[FORMATS[input].kind][0] ?? '';
      const options = { convert: { to } };
      const request = { path, filename: `sample.${input}`, operation: 'convert', options, lane: 'direct' } as const;
      expect(await refusalIn(input, request)).toMatchObject({ code: 'use_async_job' });
    },
    TIMEOUT_MS,
  );

  it.each(['image', 'video', 'audio'] as const)('compresses %s files to every offered format', (kind) => {
    const offered = compressChoices(kind).filter((target) => target !== 'original');
    expect(offered.filter((format) => !delivered.has(`${kind} ${format}`))).toEqual([]);
  });

  // Promise, What the service does: Every input format by every operation to every target
  it('agrees with the published tables', async () => {
    expect(passed.size).toBe(CELLS.length);
    await expect(formatTables(passed)).toMatchFileSnapshot(TABLES);
  });
});
