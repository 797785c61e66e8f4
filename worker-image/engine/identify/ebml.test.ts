import { describe, expect, it } from 'vitest';
import { formatOfEbml } from '#worker-image/engine/identify/ebml.ts';

function header(docType: string | null): Buffer {
  const body =
    docType === null
      ? Buffer.alloc(0)
      : Buffer.from(`\x42\x82${String.fromCodePoint(0x80 + docType.length)}${docType}`, 'latin1');
  return Buffer.concat([Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80 + body.length]), body]);
}

describe('formatOfEbml', () => {
  it.each([
    ['webm', 'webm'],
    ['matroska', 'mkv'],
  ])('returns the format of the document type %s', (docType, format) => {
    expect(formatOfEbml(header(docType))).toBe(format);
  });

  it.each([
    [null, 'without a type'],
    ['other', 'of the type "other"'],
  ])('refuses the document type %s', (docType, message) => {
    expect(() => formatOfEbml(header(docType))).toThrow(
      expect.objectContaining({ code: 'unsupported_input', message: expect.stringContaining(message) }),
    );
  });

  it('returns null for other bytes', () => {
    expect(formatOfEbml(Buffer.from('\x1a\x45\xdf'))).toBeNull();
  });
});
