import { describe, expect, it } from 'vitest';
import { PRICE_BOOK, priceOf, unitsOf, type MeasuredWork } from '#crds/catalogue/prices.ts';

const work = (more: Partial<MeasuredWork>): MeasuredWork => ({
  operation: 'compress',
  kind: 'image',
  pages: null,
  durationSeconds: null,
  width: null,
  height: null,
  videoCodec: null,
  ...more,
});

describe('units', () => {
  // Promise, Conventions and objects: Units and price of each meter
  // Promise, Direct endpoints: BMP is returned with a warning; a PDF is billed as one image
  it.each([
    ['an image', work({}), 'images', 1],
    ['a PDF of 101 pages', work({ kind: 'pdf', pages: 101 }), 'pdfs', 2],
    ['a rendered PDF page', work({ kind: 'pdf', operation: 'convert', pages: 500 }), 'images', 1],
    ['metadata of a PDF', work({ kind: 'pdf', operation: 'strip_metadata', pages: 500 }), 'images', 1],
    ['61 seconds of audio', work({ kind: 'audio', durationSeconds: 61 }), 'audio_minutes', 2],
    ['a document', work({ kind: 'word', operation: 'convert' }), 'documents', 1],
    ['a table', work({ kind: 'table', operation: 'convert' }), 'files', 1],
    [
      '150 seconds of 1080p in h265',
      work({ kind: 'video', durationSeconds: 150, width: 1920, height: 1080, videoCodec: 'h265' }),
      'video_units',
      63,
    ],
    [
      'a minute of portrait 480p in h264',
      work({ kind: 'video', durationSeconds: 60, width: 480, height: 854, videoCodec: 'h264' }),
      'video_units',
      3,
    ],
    [
      '4K in vp9',
      work({ kind: 'video', durationSeconds: 1, width: 3840, height: 2160, videoCodec: 'vp9' }),
      'video_units',
      112,
    ],
  ])('are counted for %s', (_name, measured, meter, quantity) => {
    expect(unitsOf(PRICE_BOOK, measured)).toEqual({ meter, quantity });
  });
});

describe('prices in micro-dollars', () => {
  // Promise, Conventions and objects: Units and price of each meter
  it.each([
    ['images', 1, 0, 2000],
    ['images', 1, 10_000, 1000],
    ['images', 2, 9999, 3000],
    ['images', 1, 100_000, 500],
    ['pdfs', 2, 0, 20_000],
    ['video_units', 63, 0, 63_000],
    ['video_units', 4.5, 0, 4500],
  ] as const)('of meter %s for %d units after %i images are %i', (meter, quantity, billed, amount) => {
    expect(priceOf(PRICE_BOOK, meter, quantity, billed)).toBe(amount);
  });
});
