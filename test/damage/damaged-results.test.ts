/**
 * Damaged results: each is refused, or shows the same as the undamaged one. Where neither holds, the row says which
 * damages remain; hack/decisions/0096-what-a-damaged-result-would-have-to-look-like.md has the reasons.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Format, Kind } from '#crds/catalogue/formats.ts';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import { damagesOf, type Damage } from '#test/damage/damage-file.ts';
import { engineDeps, workOn, type Fixture } from '#test/fixtures/engine-work.ts';
import { sharedFixtures } from '#test/fixtures/make-fixtures.ts';
import { runTool } from '#test/fixtures/run-tool.ts';
import type { Facts, InspectedFile, Produced } from '#worker-image/engine/handler.ts';
import { loadHandler } from '#worker-image/engine/process-file.ts';
import { verifyOutput } from '#worker-image/engine/verify-output.ts';
import { requireWritten } from '#worker-image/engine/written-file.ts';

interface Row {
  readonly result: Format;
  readonly kind: Kind;
  /** Name of the input: a fixture or a published sample. */
  readonly input: string;
  readonly options: SentOptions;
  readonly operation?: 'compress' | 'convert';
  /** Damages: 200 of each kind of file, fewer of each format that costs a process per file. */
  readonly count: number;
  /** Damages that may pass, inside coded data that another program wrote; `not shorter` includes those of equal length. */
  readonly excused?: 'of equal length' | 'not shorter';
}

const image = (result: Format, more: Partial<Row> = {}): Row => ({
  result,
  kind: 'image',
  input: 'photo-png',
  options: { convert: { to: result } },
  count: 200,
  ...more,
});
const media = (result: Format, kind: 'audio' | 'video', input: string, excused?: Row['excused']): Row => ({
  result,
  kind,
  input,
  options: { convert: { to: result } },
  count: kind === 'audio' ? 40 : 100,
  ...(excused !== undefined && { excused }),
});

const ROWS: readonly Row[] = [
  ...(['jpg', 'png', 'webp', 'avif', 'tiff', 'bmp', 'gif', 'pdf'] as const).map((result) => image(result)),
  image('webp', { input: 'animated-gif' }),
  image('gif', { input: 'animated-webp' }),
  image('gif', { input: 'animated-gif' }),
  image('heic', { count: 100, excused: 'not shorter' }),
  media('mp4', 'video', 'mov', 'of equal length'),
  media('webm', 'video', 'mp4', 'of equal length'),
  media('mp3', 'audio', 'wav', 'of equal length'),
  media('m4a', 'audio', 'wav', 'of equal length'),
  media('flac', 'audio', 'wav', 'of equal length'),
  media('wav', 'audio', 'flac', 'of equal length'),
  media('ogg', 'audio', 'wav'),
  { ...media('opus', 'audio', 'wav'), operation: 'compress', options: { audio: { format: 'opus' } } },
  ...(['csv', 'json', 'ndjson', 'html', 'md', 'xlsx'] as const).map((result): Row => ({
    ...image(result),
    kind: 'table',
    input: 'tsv',
  })),
  ...(['otf', 'woff', 'woff2'] as const).map((result): Row => ({ ...image(result), kind: 'font', input: 'ttf' })),
  { ...image('ttf'), kind: 'font', input: 'woff2' },
  { ...image('docx'), kind: 'word', input: 'letter.odt' },
  { ...image('pdf'), kind: 'word', input: 'letter.odt', count: 100, excused: 'of equal length' },
];

const SAMPLES = join(import.meta.dirname, '../../api/data/samples');
let fixtures: readonly Fixture[];

beforeAll(async () => {
  fixtures = await sharedFixtures('image', 'video', 'audio', 'table', 'font');
});

function inputOf({ kind, input }: Row): Pick<Fixture, 'path' | 'format'> {
  const named = fixtures.find(({ name }) => name === input);
  const found = named ?? fixtures.find(({ path, format }) => format === input && path.includes(`/${kind}/`));
  return found ?? { path: join(SAMPLES, input), format: input.slice(input.indexOf('.') + 1) as Format };
}

interface Result {
  readonly file: InspectedFile;
  readonly produced: Produced;
}

async function resultOf(row: Row): Promise<Result> {
  const operation = row.operation ?? 'convert';
  const handler = await loadHandler(row.kind);
  const work = await workOn({ ...inputOf(row), operation, options: row.options });
  const facts = await handler.inspect(engineDeps(), work);
  const produced = await handler[operation]?.(engineDeps(), work, facts);
  if (produced === undefined) throw new Error(`nothing was produced for ${row.result}`);
  return { file: { handler, work, facts }, produced };
}

/** Opens the result again, as its handler did when it was written, and verifies it. */
async function verifyAgain({ file, produced }: Result): Promise<void> {
  const { path, format, written } = produced;
  // Comes first in `verifyOutput` too; here it saves a process for most files.
  if (written !== undefined) await requireWritten(path, written, engineDeps().signal);
  await verifyOutput(engineDeps(), file, { ...produced, facts: await openAgain(file, { path, format }) });
}

/** Returns the facts of a result whose handler reads any. */
async function openAgain({ handler, work }: InspectedFile, result: Pick<Produced, 'path' | 'format'>): Promise<Facts> {
  const { kind } = work.input;
  const isRead = kind === 'audio' || kind === 'video' || (kind === 'image' && result.format !== 'pdf');
  return isRead ? handler.inspect(engineDeps(), { ...work, input: { ...work.input, ...result } }) : {};
}

/** Returns the names of the damages that passed verification. */
async function passedOf(result: Result, damages: readonly Damage[]): Promise<Damage[]> {
  const passed: Damage[] = [];
  for (const damage of damages) {
    await writeFile(result.produced.path, damage.bytes);
    const isRefused = await verifyAgain(result).then(
      () => false,
      () => true,
    );
    if (!isRefused) passed.push(damage);
  }
  return passed;
}

function isExcused({ excused }: Row, growth: number): boolean {
  return excused !== undefined && (growth === 0 || (excused === 'not shorter' && growth > 0));
}

/** Returns what a file shows: the parts of a package, text and pixels of a PDF, or the pixels of an image. */
async function shown(directory: string, bytes: Buffer, format: Format): Promise<string> {
  if (format === 'docx') return partsOf(bytes);
  if (format !== 'pdf') return (await sharp(bytes, { failOn: 'none' }).raw().toBuffer()).toString('latin1');
  const path = join(directory, 'shown.pdf');
  await writeFile(path, bytes);
  await runTool(directory, 'pdftoppm', ['-r', '40', '-png', path, join(directory, 'shown')]);
  const pages = (await readdir(directory)).filter((name) => /^shown-.*png$/.test(name)).toSorted();
  const pixels = await Promise.all(pages.map((name) => sharp(join(directory, name)).raw().toBuffer()));
  return `${await runTool(directory, 'pdftotext', [path, '-'])}${Buffer.concat(pixels).toString('latin1')}`;
}

function partsOf(bytes: Buffer): string {
  return Object.entries(unzipSync(bytes))
    .map(([name, part]) => `${name} ${Buffer.from(part).toString('latin1')}`)
    .join();
}

describe('a damaged result', () => {
  it.each(ROWS.map((row) => [row.result, row.kind, row.input, row] as const))(
    'in %s of %s, from %s, is refused or shows the same',
    async (format, _kind, _input, row) => {
      const result = await resultOf(row);
      const { path } = result.produced;
      const good = await readFile(path);
      await expect(verifyAgain(result)).resolves.toBeUndefined();
      const shifted = Buffer.concat([good.subarray(good.length >> 1), good.subarray(0, good.length >> 1)]);
      const damages = damagesOf(good, shifted, row.count);
      expect(new Set(damages.map(({ name }) => name)).size).toBeGreaterThan(row.count * 0.8);
      const passed = await passedOf(result, damages);
      const unexcused = passed.filter(({ bytes }) => !isExcused(row, bytes.length - good.length));
      const { directory } = result.file.work;
      const wanted = unexcused.length === 0 ? '' : await shown(directory, good, format);
      for (const { name, bytes } of unexcused)
        expect((await shown(directory, bytes, format)) === wanted, name).toBe(true);
    },
    120_000,
  );
});
