import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECRET, startAttackedEngine, wasRead, type AttackedEngine } from '#test/hostile/attacked-engine.ts';
import { DISGUISED_FILES } from '#test/hostile/disguised-files.ts';
import { HOSTILE_FONTS } from '#test/hostile/font-files.ts';
import { expectOutcome, type HostileFile } from '#test/hostile/hostile-file.ts';
import { HOSTILE_IMAGES, IMAGES_OVER_LIMITS } from '#test/hostile/image-files.ts';
import { DOCUMENTS_WITH_LINKS } from '#test/hostile/linked-documents.ts';
import { LOCKED_DOCUMENTS } from '#test/hostile/locked-documents.ts';
import { HOSTILE_MEDIA } from '#test/hostile/media-files.ts';
import { HOSTILE_DOCUMENTS } from '#test/hostile/office-files.ts';
import { PDF_BOMBS } from '#test/hostile/pdf-bombs.ts';
import { HOSTILE_PDFS } from '#test/hostile/pdf-files.ts';
import { DISGUISED_PLAYLISTS } from '#test/hostile/playlists.ts';
import { HOSTILE_PRESENTATIONS } from '#test/hostile/presentation-files.ts';
import { HOSTILE_TABLES } from '#test/hostile/table-files.ts';
import { searchableText } from '#test/hostile/searchable-text.ts';

let engine: AttackedEngine;
beforeAll(async () => {
  engine = await startAttackedEngine();
});
afterAll(() => engine.close());

const GROUPS: readonly (readonly [what: string, files: readonly HostileFile[]])[] = [
  ['images over a limit', IMAGES_OVER_LIMITS],
  ['images', HOSTILE_IMAGES],
  ['PDF bombs', PDF_BOMBS],
  ['PDF files', HOSTILE_PDFS],
  ['playlists', DISGUISED_PLAYLISTS],
  ['video and audio', HOSTILE_MEDIA],
  ['documents that lead elsewhere', DOCUMENTS_WITH_LINKS],
  ['documents', HOSTILE_DOCUMENTS],
  ['presentations', HOSTILE_PRESENTATIONS],
  ['documents under a password', LOCKED_DOCUMENTS],
  ['tables', HOSTILE_TABLES],
  ['fonts', HOSTILE_FONTS],
  ['disguised files', DISGUISED_FILES],
];

describe.each(GROUPS)('the engine, given hostile %s,', (_what, files) => {
  // Promise, Bad input, case by case: Pixels, frames, pages, durations
  // Promise, Bad input, case by case: Passwords
  it.concurrent.each(files)(
    'withstands $name',
    async (file) => {
      const { filename, operation = 'compress', options = {} } = file;
      const outcome = await engine.send({ bytes: await file.bytes(engine.bait), filename, operation, options });
      await expectOutcome(file, outcome, engine.bait);
      expect(searchableText(outcome)).not.toContain(SECRET);
    },
    180_000,
  );
});

describe('the engine, after all hostile files,', () => {
  it('has opened no connection, read no secret, run no program and left no file or process', async () => {
    expect(await engine.traces()).toEqual([]);
  });

  it('has a secret file whose access time records a read', async () => {
    const { readFile } = await import('node:fs/promises');
    expect(await readFile(engine.bait.path, 'utf8')).toContain(SECRET);
    expect(await wasRead(engine.bait.path)).toBe(true);
  });

  it('processes the next valid file', async () => {
    const outcome = await engine.send({ bytes: await validFile(), filename: 'photo.jpg', operation: 'compress' });
    expect(outcome.code).toBe('done');
  });
});

async function validFile(): Promise<Buffer> {
  const { readFile } = await import('node:fs/promises');
  return readFile(new URL('../../api/data/samples/photo.jpg', import.meta.url));
}
