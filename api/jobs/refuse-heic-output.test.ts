import { describe, expect, it } from 'vitest';
import { refuseHeicOutput } from '#api/jobs/refuse-heic-output.ts';
import type { Operation } from '#crds/formats.ts';
import { parseJsonOptions, resolveOptions } from '#crds/options/options.ts';

const without = { video: true, heicOutput: false };
const refuse = (operation: Operation, sent: object, { name = null as string | null, features = without } = {}) =>
  refuseHeicOutput({ operation, options: resolveOptions(parseJsonOptions(sent)), features, name });

const toHeic = { convert: { to: 'HEIF' } };
const asHeic = { image: { format: 'heic' } };

describe('HEIC output of a job without its feature', () => {
  it.each([
    ['convert', toHeic, null, 'convert.to'],
    ['convert', toHeic, 'photo.jpg', 'convert.to'],
    ['compress', asHeic, null, 'image.format'],
    ['compress', asHeic, 'photo.jpg', 'image.format'],
    ['compress', asHeic, 'https://example.com/photo?size=1', 'image.format'],
  ] as const)('is refused: %s with %j of %s', (operation, sent, name, param) => {
    expect(() => refuse(operation, sent, { name })).toThrow(
      expect.objectContaining({ code: 'feature_not_enabled', status: 403, param }),
    );
  });

  it.each([
    ['a HEIC file, which the engine finds', 'compress', {}, 'photo.heic'],
    ['an option of another kind', 'compress', asHeic, 'report.pdf'],
    ['an option of another operation', 'convert', { ...asHeic, convert: { to: 'jpg' } }, 'photo.heic'],
    ['removing metadata', 'strip_metadata', { ...asHeic, ...toHeic }, 'photo.heic'],
  ] as const)('is not meant by %s', (_what, operation, sent, name) => {
    expect(() => refuse(operation, sent, { name })).not.toThrow();
  });

  it('is allowed with it', () => {
    expect(() => refuse('convert', toHeic, { features: { video: false, heicOutput: true } })).not.toThrow();
  });
});
