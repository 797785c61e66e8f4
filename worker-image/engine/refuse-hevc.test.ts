import { describe, expect, it } from 'vitest';
import type { Operation } from '#crds/catalogue/formats.ts';
import { parseJsonOptions, resolveOptions } from '#crds/catalogue/options/options.ts';
import { heicRefusal, refuseH265 } from '#worker-image/engine/refuse-hevc.ts';

const order = (operation: Operation, options: object) => ({
  operation,
  options: resolveOptions(parseJsonOptions(options)),
});

describe('heicRefusal', () => {
  it.each([
    ['compress', {}, 'heic', 'unsupported_input', null],
    ['convert', { convert: { to: 'jpg' } }, 'heic', 'unsupported_input', null],
    ['strip_metadata', {}, 'heic', 'unsupported_input', null],
    ['convert', { convert: { to: 'heic' } }, 'jpg', 'unsupported_target', 'convert.to'],
    ['compress', { image: { format: 'heic' } }, 'png', 'unsupported_target', 'image.format'],
  ] as const)('refuses %s with %j of a %s with %s', (operation, options, input, code, param) => {
    const refusal = heicRefusal(order(operation, options), input);
    expect(refusal).toMatchObject({ code, param });
    expect(refusal?.message).toContain('built without HEVC');
  });

  it.each([
    ['compress', {}, 'jpg'],
    ['convert', { convert: { to: 'avif' } }, 'png'],
    ['strip_metadata', { image: { format: 'heic' } }, 'jpg'],
    ['compress', {}, 'mp4'],
  ] as const)('accepts %s with %j of a %s', (operation, options, input) => {
    expect(heicRefusal(order(operation, options), input)).toBeNull();
  });
});

describe('refuseH265', () => {
  it('refuses a video in H.265', () => {
    expect(() => refuseH265({ videoCodec: 'h265' })).toThrow(
      expect.objectContaining({ code: 'unsupported_input', message: expect.stringContaining('H.265') }),
    );
  });

  it('accepts other codecs and files without video', () => {
    expect(() => {
      refuseH265({ videoCodec: 'h264' });
      refuseH265({});
    }).not.toThrow();
  });
});
