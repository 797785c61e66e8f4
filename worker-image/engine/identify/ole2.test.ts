import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { ole2 } from '#test/hostile/forge-ole2.ts';
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import { formatOfOle2 } from '#worker-image/engine/identify/ole2.ts';

const ENCRYPTED_WORD = Buffer.alloc(64);
ENCRYPTED_WORD[11] = 1;
const ENCRYPTED_SLIDES = Buffer.alloc(64);
ENCRYPTED_SLIDES.writeUInt32LE(0xf3d1_c4df, 12);

async function formatOf(bytes: Buffer): Promise<string | null> {
  const path = join(await freshDirectory(), 'file');
  await writeFile(path, bytes);
  return withFileReader(path, formatOfOle2);
}

function withStreams(streams: Readonly<Record<string, Buffer>>): Buffer {
  return ole2(Object.entries(streams).map(([name, data]) => ({ name, data })));
}

describe('formatOfOle2', () => {
  it.each([
    ['WordDocument', 'doc'],
    ['Workbook', 'xls'],
    ['Book', 'xls'],
    ['PowerPoint Document', 'ppt'],
  ])('returns by the stream %s the format %s', async (name, format) => {
    const streams = { [name]: Buffer.alloc(64), 'Current User': Buffer.alloc(64) };
    expect(await formatOf(withStreams(streams))).toBe(format);
  });

  it.each([
    ['a package', { EncryptedPackage: Buffer.alloc(64) }],
    ['a text document', { WordDocument: ENCRYPTED_WORD }],
    ['a presentation', { 'PowerPoint Document': Buffer.alloc(64), 'Current User': ENCRYPTED_SLIDES }],
  ])('refuses %s with a password', async (_what, streams) => {
    await expect(formatOf(withStreams(streams))).rejects.toThrow(/password/);
  });

  it('refuses another container, and returns null for what is none', async () => {
    await expect(formatOf(withStreams({ Contents: Buffer.alloc(64) }))).rejects.toMatchObject({
      code: 'unsupported_input',
    });
    expect(await formatOf(Buffer.from('no container'))).toBeNull();
  });
});
