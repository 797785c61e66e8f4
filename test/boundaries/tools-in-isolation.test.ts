/** Processes files of every kind with the real tools, in each level of isolation that this machine supports. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatOfName, type Format } from '#crds/catalogue/formats.ts';
import { startMatrixEngine, type MatrixEngine } from '#test/matrix/engine.ts';
import { probeIsolation } from '#worker-image/tools/isolation.ts';
import { LEVELS } from '#worker-image/tools/isolation-levels.ts';

const SAMPLES = join(import.meta.dirname, '../../api/data/samples');
const TIMEOUT_MS = 180_000;

/** One row per tool or library, with a small file and the target format; null for compress. */
const WORK: readonly (readonly [tool: string, file: string, to: Format | null])[] = [
  ['sharp', 'photo.jpg', null],
  ['heif-enc', 'photo.webp', 'heic'],
  ['vips, from HEIC', 'photo.heic', 'png'],
  ['tiles of AVIF', 'photo.avif', 'jpg'],
  ['dcraw_emu', 'photo.arw', null],
  ['qpdf and Python', 'report.pdf', null],
  ['PDFium', 'report.pdf', 'png'],
  ['PDFium and Pillow', 'report.pdf', 'jpg'],
  ['ffmpeg with video', 'clip.m4v', null],
  ['ffmpeg with audio', 'talk.wav', 'mp3'],
  ['LibreOffice Writer', 'letter.docx', 'pdf'],
  ['LibreOffice Calc', 'budget.xls', 'xlsx'],
  ['LibreOffice Impress', 'slides.ppt', 'pdf'],
  ['a photo in a PDF', 'photo.jpg', 'pdf'],
  ['tables', 'people.csv', 'xlsx'],
  ['woff2_compress', 'typeface.ttf', 'woff2'],
  ['woff2_decompress', 'typeface.woff2', 'ttf'],
];

describe.each(LEVELS.map(({ name }) => name))('in the isolation %s', (level) => {
  let engine: MatrixEngine | undefined;
  beforeAll(async () => {
    const isolation = await probeIsolation({ setting: 'none', levels: [level] });
    if (isolation.level === level) engine = await startMatrixEngine(isolation);
  }, TIMEOUT_MS);
  afterAll(() => engine?.close());

  it.concurrent.each(WORK)('%s processes %s to %s', { timeout: TIMEOUT_MS }, async (_tool, name, to) => {
    if (engine === undefined) return;
    const { report } = await engine.process({
      path: join(SAMPLES, name),
      filename: name,
      operation: to === null ? 'compress' : 'convert',
      options: to === null ? {} : { convert: { to } },
    });
    const { input_format, output_format, kept_original } = report.result;
    expect(input_format).toBe(formatOfName(name));
    if (to === null) expect(kept_original).toBe(false);
    else expect(output_format).toBe(to);
  });
});
