import { describe, expect, it } from 'vitest';
import { documentName } from '#worker-image/engine/office/document-name.ts';

describe('documentName', () => {
  it.each([
    ['Rechnung Jürgen & Söhne.v2.docx', 'Rechnung Jürgen & Söhne.v2'],
    ['報告書.odt', '報告書'],
    ['README', 'README'],
    [null, 'document'],
    ['.docx', 'document'],
    ['a/b.docx', 'document'],
    ['a\\b.docx', 'document'],
    ['a\nb.docx', 'document'],
    [`${'long'.repeat(20)}.docx`, 'document'],
  ])('of %j is %j', (filename, name) => {
    expect(documentName(filename)).toBe(name);
  });
});
