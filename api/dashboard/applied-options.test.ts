import { describe, expect, it } from 'vitest';
import { appliedOptions } from '#api/dashboard/applied-options.ts';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import type { Operation } from '#crds/catalogue/formats.ts';

const options = resolveOptions(
  new Map<string, string | number>([
    ['convert.to', 'png'],
    ['image.quality', 60],
  ]),
);
const applied = (operation: Operation, inputFilename: string | null) =>
  appliedOptions({ operation, options, result: null, inputFilename });

describe('the options that a job used', () => {
  it('are those of the kind for compress', () => {
    expect(applied('compress', 'photo.jpg')).toEqual({ image: options.image });
    expect(applied('compress', 'film.mp4')).toEqual({ video: options.video });
  });

  it('have a page for a converted PDF only', () => {
    expect(applied('convert', 'report.pdf')).toEqual({ convert: { to: 'png', page: 1, dpi: 144 } });
    expect(applied('convert', 'photo.jpg')).toEqual({ convert: { to: 'png' } });
  });

  it('are none for strip_metadata', () => {
    expect(applied('strip_metadata', 'photo.jpg')).toEqual({});
  });

  it('are those of every kind for a file without a known name', () => {
    expect(Object.keys(applied('compress', null))).toEqual(['image', 'pdf', 'video', 'audio']);
  });
});
