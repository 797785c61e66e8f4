import { describe, expect, it } from 'vitest';
import { formatOfSignature, refuseLaterSignature } from '#worker-image/engine/identify/signatures.ts';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const FONT = '\0\x0a\0\x80\0\x03\0\x20GDEF\0\0\0\0\0\0\0\0\0\0\0\0';

describe('formatOfSignature', () => {
  it.each([
    ['\xff\xd8\xff\xe0', 'jpg'],
    ['%PDF-1.7', 'pdf'],
    ['{\\rtf1', 'rtf'],
    ['fLaC\0\0\0\x22', 'flac'],
    [`\0\x01\0\0${FONT}`, 'ttf'],
    [`OTTO${FONT}`, 'otf'],
    [`true${FONT}`, 'ttf'],
    // Text that begins like a format is none: the signature of letters alone needs a zero byte near the start.
    ['fLaC is a codec', null],
    ['true, but no font', null],
    ['\0\x01\0\0 no font at all, though it is long enough', null],
    ['MZ is how it begins', null],
    ['\xff\xd8', null],
    ['', null],
  ])('returns the format of %j: %j', (bytes, format) => {
    expect(formatOfSignature(latin1(bytes))).toBe(format);
  });

  it.each([
    ['\xff\x0a', 'JPEG XL'],
    ['%!PS-Adobe', 'PostScript program'],
    ['%!PS-AdobeFont', 'PostScript font'],
    ['MZ\0\0', 'Windows program'],
    ['\x1f\x8b\x08', 'gzip'],
  ])('refuses %j as %s', (bytes, name) => {
    expect(() => formatOfSignature(latin1(bytes))).toThrow(expect.objectContaining({ code: 'unsupported_input' }));
    expect(() => formatOfSignature(latin1(bytes))).toThrow(name);
  });
});

describe('refuseLaterSignature', () => {
  it('refuses a type by bytes that are not at the start, and accepts others', () => {
    expect(() => refuseLaterSignature(latin1('FORM\0\0\0\0AIFF'))).toThrow('AIFF');
    expect(() => refuseLaterSignature(latin1(`name\0${' '.repeat(252)}ustar`))).toThrow('tar');
    expect(refuseLaterSignature(latin1(' FORM\0\0\0\0AIFF'))).toBeNull();
  });
});
