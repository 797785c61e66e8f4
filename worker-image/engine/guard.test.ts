import { describe, expect, it } from 'vitest';
import { FORMATS, type Format, type Operation } from '#crds/formats.ts';
import { resolveOptions } from '#crds/options/options.ts';
import { refuseBeforeOpening, refuseOverLimits, type Asked } from '#worker-image/engine/guard.ts';
import { NO_FACTS, type Facts, type Identified } from '#worker-image/engine/handler.ts';

const LIMITS = { maxPixels: 100, maxFrames: 20, maxPages: 30, maxSeconds: 40 };

describe('refuseBeforeOpening', () => {
  it.each<[string, Format, Partial<Asked> & { to?: string; image?: string }, string | null]>([
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
  ])('decides on %s', (_what, format, asked, code) => {
    expect(codeOf(() => refuseBeforeOpening(askedFor(asked), identified(format)))).toBe(code);
  });

  it('names the targets of the kind', () => {
    const asked = askedFor({ operation: 'convert', to: 'mp3' });
    expect(() => refuseBeforeOpening(asked, identified('pdf'))).toThrow(
      'A pdf file does not convert to mp3. The targets of pdf files are png, jpg.',
    );
  });
});

describe('refuseOverLimits', () => {
  it.each<[Partial<Facts>, string | null]>([
    [{ width: 10, height: 10 }, null],
    [{ width: 101, height: 1 }, '101 pixels (width times height); at most 100'],
    [{ frames: 21 }, '21 frames; at most 20'],
    [{ pages: 31 }, '31 pages; at most 30'],
    [{ durationSeconds: 40.24 }, '40.2 seconds; at most 40'],
    [{ durationSeconds: 40 }, null],
  ])('measures %j', (facts, words) => {
    const check = (): void => refuseOverLimits(identified('jpg'), { ...NO_FACTS, ...facts }, LIMITS);
    if (words === null) expect(check).not.toThrow();
    else expect(check).toThrow(words);
  });
});

function askedFor({ to, image, ...more }: Partial<Asked> & { to?: string; image?: string }): Asked {
  const flat = new Map([
    ...(to === undefined ? [] : [['convert.to', to] as const]),
    ...(image === undefined ? [] : [['image.format', image] as const]),
  ]);
  const operation: Operation = 'compress';
  return {
    operation,
    lane: 'direct',
    features: { video: false, heicOutput: false },
    options: resolveOptions(flat),
    ...more,
  };
}

function identified(format: Format): Identified {
  return { kind: FORMATS[format].kind, format, warning: null };
}

function codeOf(refuse: () => void): string | null {
  try {
    refuse();
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  }
}
