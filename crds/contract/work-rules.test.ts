import { describe, expect, it } from 'vitest';
import { formatOfName, KINDS, type Format, type Operation } from '#crds/catalogue/formats.ts';
import { parseJsonOptions, resolveOptions } from '#crds/catalogue/options/options.ts';
import type { UnnamedWorkOrder } from '#crds/contract/work-order.ts';
import { acceptsKind, outputFormatOf, refusalOf, type Lane } from '#crds/contract/work-rules.ts';

type RuledOrder = Pick<UnnamedWorkOrder, 'operation' | 'options' | 'features'>;
interface Change extends Partial<Pick<RuledOrder, 'operation' | 'features'>> {
  readonly lane?: Lane;
  readonly to?: string;
  readonly image?: string;
}

const WITHOUT_FEATURES = { video: false, heicOutput: false };

function order(operation: Operation, sent: object, features = WITHOUT_FEATURES): RuledOrder {
  return { operation, options: resolveOptions(parseJsonOptions(sent)), features };
}

function orderOf({ operation = 'compress', to, image, features }: Change): RuledOrder {
  const sent = {
    ...(to === undefined ? {} : { convert: { to } }),
    ...(image === undefined ? {} : { image: { format: image } }),
  };
  return order(operation, sent, features);
}

describe('the refusal of an order for a file of known content', () => {
  // Promise, Bad input, case by case: Features
  // Promise, Bad input, case by case: HEIC without the feature
  // Promise, Bad input, case by case: Files of another kind
  // Promise, Jobs: Feature_not_enabled after identification
  // Promise, Direct endpoints: Camera RAW is compressed, not converted
  // Promise, Direct endpoints: Feature_not_enabled for HEIC output; stripping HEIC does not need it
  // Promise, Direct endpoints: Unsupported_input, use_async_job, encrypted_pdf, processing_failed, limit_exceeded with value and limit
  // Promise, What the service does: Video and office documents run as jobs only
  it.each<[string, Format, Change, string | null]>([
    ['an image in a request', 'jpg', {}, null],
    ['video in a request', 'mp4', {}, 'use_async_job'],
    ['a sheet in a request', 'xlsx', { operation: 'convert', to: 'csv' }, 'use_async_job'],
    ['a sheet in a job', 'xlsx', { operation: 'convert', to: 'csv', lane: 'job' }, null],
    ['compressing a font', 'ttf', {}, 'unsupported_input'],
    ['compressing a table', 'csv', {}, 'unsupported_input'],
    ['removing metadata from audio', 'mp3', { operation: 'strip_metadata' }, 'unsupported_input'],
    ['compressing camera RAW', 'nef', {}, null],
    ['converting camera RAW', 'nef', { operation: 'convert', to: 'jpg' }, 'unsupported_input'],
    ['removing metadata from camera RAW', 'dng', { operation: 'strip_metadata' }, 'unsupported_input'],
    ['video without its feature', 'mp4', { lane: 'job' }, 'feature_not_enabled'],
    ['video with its feature', 'mp4', { lane: 'job', features: { video: true, heicOutput: false } }, null],
    ['compressing to HEIC without the feature', 'jpg', { image: 'heic' }, 'feature_not_enabled'],
    [
      'compressing to HEIC with the feature',
      'jpg',
      { image: 'heic', features: { video: false, heicOutput: true } },
      null,
    ],
    ['HEIC that stays HEIC without the feature', 'heic', {}, 'feature_not_enabled'],
    ['HEIC that becomes JPEG', 'heic', { image: 'jpg' }, null],
    ['converting to HEIC without the feature', 'jpg', { operation: 'convert', to: 'heic' }, 'feature_not_enabled'],
    ['removing metadata from HEIC', 'heic', { operation: 'strip_metadata' }, null],
    ['a conversion without target', 'jpg', { operation: 'convert' }, 'invalid_options'],
    ['a target of another kind', 'jpg', { operation: 'convert', to: 'mp3' }, 'unsupported_target'],
    ['a target of the kind', 'jpg', { operation: 'convert', to: 'PDF' }, null],
    ['the lane before the feature', 'mp4', { operation: 'strip_metadata' }, 'use_async_job'],
    ['the operation before the feature', 'mp4', { operation: 'strip_metadata', lane: 'job' }, 'unsupported_input'],
  ])('is the expected one for %s', (_what, format, { lane = 'direct', ...change }, code) => {
    expect(refusalOf(orderOf(change), { by: 'content', format }, lane)?.code ?? null).toBe(code);
  });

  it('does not advise a job that would fail', () => {
    const order = orderOf({ operation: 'strip_metadata' });
    const message = refusalOf(order, { by: 'content', format: 'mp4' }, 'direct')?.message;
    expect(message).toMatch(/A job would fail too: strip_metadata applies to image, pdf\.$/);
  });

  // Promise, Direct endpoints: Unsupported_target lists the targets
  it('lists the targets of the kind', () => {
    const refusal = refusalOf(orderOf({ operation: 'convert', to: 'mp3' }), { by: 'content', format: 'pdf' }, 'job');
    expect(refusal?.message).toBe('A pdf file does not convert to mp3. The targets of pdf files are png, jpg.');
  });
});

describe('the refusal of an order before the file is known', () => {
  it.each<[Operation, object, string | null]>([
    ['convert', {}, 'invalid_options'],
    ['convert', { convert: { to: 'heic' } }, null],
    ['compress', { image: { format: 'heic' } }, null],
  ])('is the expected one for %s with %j', (operation, sent, code) => {
    expect(refusalOf(order(operation, sent), { by: 'nothing' }, 'job')?.code ?? null).toBe(code);
  });

  const toHeic = { convert: { to: 'HEIF' } };
  const asHeic = { image: { format: 'heic' } };

  // Promise, Direct endpoints: Feature_not_enabled for HEIC output; stripping HEIC does not need it
  it.each([
    ['convert', toHeic, null, 'convert.to'],
    ['convert', toHeic, 'photo.jpg', 'convert.to'],
    ['compress', asHeic, null, 'image.format'],
    ['compress', asHeic, 'photo.jpg', 'image.format'],
    ['compress', asHeic, 'https://example.com/photo?size=1', 'image.format'],
  ] as const)('refuses HEIC output by the file name: %s with %j of %s', (operation, sent, name, param) => {
    const refusal = refusalOf(order(operation, sent), { by: 'name', format: formatOfName(name) }, 'job');
    expect(refusal).toMatchObject({ code: 'feature_not_enabled', status: 403, param });
  });

  it.each([
    ['a HEIC file, which the content decides', 'compress', {}, 'photo.heic'],
    ['an option of another kind', 'compress', asHeic, 'report.pdf'],
    ['an option of another operation', 'convert', { ...asHeic, convert: { to: 'jpg' } }, 'photo.heic'],
    ['removing metadata', 'strip_metadata', { ...asHeic, ...toHeic }, 'photo.heic'],
    ['an operation that the named kind does not have', 'compress', {}, 'report.docx'],
  ] as const)('ignores the file name for %s', (_what, operation, sent, name) => {
    expect(refusalOf(order(operation, sent), { by: 'name', format: formatOfName(name) }, 'job')).toBeNull();
  });

  it('is null for HEIC output with its feature', () => {
    const enabled = order('convert', toHeic, { video: false, heicOutput: true });
    expect(refusalOf(enabled, { by: 'name', format: null }, 'job')).toBeNull();
  });
});

describe('the kinds that an order accepts', () => {
  it.each<[Operation, object, Lane, readonly string[]]>([
    ['compress', {}, 'direct', ['image', 'pdf', 'audio']],
    ['compress', { image: { format: 'heic' } }, 'job', ['image', 'pdf', 'audio']],
    ['convert', {}, 'direct', ['image', 'pdf', 'audio', 'table', 'font']],
    ['convert', { convert: { to: 'docx' } }, 'job', ['word']],
    ['strip_metadata', {}, 'job', ['image', 'pdf']],
  ])('are for %s with %j in the lane %s: %j', (operation, sent, lane, kinds) => {
    expect(KINDS.filter((kind) => acceptsKind(order(operation, sent), kind, lane))).toStrictEqual(kinds);
  });
});

describe('the output format', () => {
  const original = { image: { format: 'original' }, audio: { format: 'original' } };

  it.each<[Format, object, Operation, Format]>([
    ['heic', original, 'compress', 'heic'],
    ['raf', original, 'compress', 'jpg'],
    ['bmp', original, 'compress', 'jpg'],
    ['tiff', { image: { format: 'webp' } }, 'compress', 'webp'],
    ['flac', original, 'compress', 'flac'],
    ['wma', original, 'compress', 'm4a'],
    ['wav', { audio: { format: 'alac' } }, 'compress', 'alac'],
    ['avi', { video: { format: 'mkv' } }, 'compress', 'mkv'],
    ['pdf', {}, 'compress', 'pdf'],
    ['tiff', {}, 'strip_metadata', 'tiff'],
    ['xlsx', { convert: { to: 'csv' } }, 'convert', 'csv'],
  ])('of %s with %j after %s is %s', (input, sent, operation, format) => {
    expect(outputFormatOf(order(operation, sent), input)).toBe(format);
  });
});
