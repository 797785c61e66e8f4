import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { engineDeps, freshDirectory } from '#test/fixtures/engine-work.ts';
import { verifyDocument } from '#worker-image/engine/office/verify-document.ts';

async function verified(format: Format, bytes: Uint8Array): Promise<void> {
  const directory = await freshDirectory();
  const path = join(directory, `output.${format}`);
  await writeFile(path, bytes);
  await verifyDocument(engineDeps(), directory, { path, format, facts: {}, warnings: [] });
}

const zip = (name: string, text: string): Uint8Array => zipSync({ [name]: strToU8(text) });

describe('verifyDocument', () => {
  it.each<readonly [Format, Uint8Array]>([
    ['docx', zip('word/document.xml', '<w/>')],
    ['odp', zip('content.xml', '<o/>')],
    ['txt', strToU8('text')],
    ['csv', strToU8('')],
  ])('accepts a complete %s', async (format, bytes) => {
    await expect(verified(format, bytes)).resolves.toBeUndefined();
  });

  it.each<readonly [Format, string, Uint8Array]>([
    ['docx', 'without its main part', zip('xl/workbook.xml', '<w/>')],
    ['xlsx', 'with an empty main part', zip('xl/workbook.xml', '')],
    ['odt', 'that is truncated', zip('content.xml', '<o/>').subarray(0, -5)],
    ['txt', 'without text', strToU8('')],
    ['pdf', 'without pages', strToU8('%PDF-1.7\n')],
  ])('rejects a %s %s', async (format, _what, bytes) => {
    await expect(verified(format, bytes)).rejects.toThrow();
  });
});
