import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { zip as forgeZip } from '#test/hostile/forge-zip.ts';
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import { formatOfZip } from '#worker-image/engine/identify/zip.ts';

async function format(bytes: Uint8Array): Promise<string | null> {
  const path = join(await freshDirectory(), 'package');
  await writeFile(path, bytes);
  return withFileReader(path, (file) => formatOfZip({ ...file, filename: null }));
}

const zip = (entries: Readonly<Record<string, string>>): Uint8Array =>
  zipSync(Object.fromEntries(Object.entries(entries).map(([name, text]) => [name, strToU8(text)])));
const types = (type: string): Readonly<Record<string, string>> => ({
  '[Content_Types].xml': `<Override ContentType="application/vnd.${type}"/>`,
});
const odf = (type: string): Readonly<Record<string, string>> => ({
  mimetype: `application/vnd.oasis.opendocument.${type}`,
});

describe('formatOfZip', () => {
  it.each<readonly [string, Uint8Array, string | null]>([
    ['Word', zip(types('openxmlformats-officedocument.wordprocessingml.document.main+xml')), 'docx'],
    ['Word with macros', zip(types('ms-word.document.macroEnabled.main+xml')), 'docm'],
    ['OpenDocument', zip(odf('spreadsheet')), 'ods'],
    ['a template', zip(odf('text-template')), 'odt'],
    ['a package with bytes behind its end', Buffer.concat([zip(odf('text')), Buffer.from('\n')]), 'odt'],
    ['other bytes', strToU8('PKnot'), null],
  ])('of %s', async (_what, bytes, expected) => {
    expect(await format(bytes)).toBe(expected);
  });

  it.each<readonly [string, Uint8Array, string]>([
    ['another archive', zip({ 'a.txt': 'x' }), 'unsupported_input'],
    ['an empty archive', zip({}), 'unsupported_input'],
    ['a drawing', zip(odf('graphics')), 'unsupported_input'],
    ['an EPUB', zip({ mimetype: 'application/epub+zip' }), 'unsupported_input'],
    ['a binary workbook', zip(types('ms-excel.sheet.binary.macroEnabled.main')), 'unsupported_input'],
    [
      'an encrypted document',
      zip({ ...odf('text'), 'META-INF/manifest.xml': '<manifest:encryption-data>' }),
      'processing_failed',
    ],
    ['a truncated package', zip(odf('text')).subarray(0, -5), 'processing_failed'],
    ['a list of types of 5 MB', zip({ '[Content_Types].xml': 'x'.repeat(5 * 1024 ** 2) }), 'processing_failed'],
    ['a name that leaves the package', zip({ '../evil': 'x', ...odf('text') }), 'processing_failed'],
    ['70 MB in few bytes', zip({ ...odf('text'), 'content.xml': ' '.repeat(70 * 1024 ** 2) }), 'processing_failed'],
    [
      '80 MB in entries of one name',
      forgeZip([
        ...Object.entries(odf('text')).map(([name, data]) => ({ name, data })),
        ...Array.from({ length: 40 }, () => ({ name: 'content.xml', data: ' ', claims: 2 * 1024 ** 2 })),
      ]),
      'processing_failed',
    ],
  ])('refuses %s', async (_what, bytes, code) => {
    await expect(format(bytes)).rejects.toMatchObject({ code });
  });
});
