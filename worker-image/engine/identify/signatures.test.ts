import { describe, expect, it } from 'vitest';
import { refuseLaterSignature, refuseSignature } from '#worker-image/engine/identify/signatures.ts';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('refuseSignature', () => {
  it.each([
    ['\xff\x0a', 'JPEG XL'],
    ['%!PS-Adobe', 'PostScript program'],
    ['%!PS-AdobeFont', 'PostScript font'],
    ['MZ\0\0', 'Windows program'],
    ['\x1f\x8b\x08', 'gzip'],
  ])('refuses %j as %s', (bytes, name) => {
    expect(() => refuseSignature(latin1(bytes))).toThrow(expect.objectContaining({ code: 'unsupported_input' }));
    expect(() => refuseSignature(latin1(bytes))).toThrow(name);
  });
});

describe('refuseLaterSignature', () => {
  it('refuses a type by bytes that are not at the start, and accepts others', () => {
    expect(() => refuseLaterSignature(latin1('FORM\0\0\0\0AIFF'))).toThrow('AIFF');
    expect(() => refuseLaterSignature(latin1(`name\0${' '.repeat(252)}ustar`))).toThrow('tar');
    expect(refuseLaterSignature(latin1(' FORM\0\0\0\0AIFF'))).toBeNull();
  });
});
