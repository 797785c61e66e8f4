import { describe, expect, it } from 'vitest';
import {
  CONVERT_TARGETS,
  extensionOf,
  formatOfName,
  FORMATS,
  inputFormatsOf,
  isImageTarget,
  KINDS,
  targetFormat,
} from '#crds/catalogue/formats.ts';

describe('formats', () => {
  it.each([
    ['photo.JPEG', 'jpg'],
    ['archive.tar.docx', 'docx'],
    ['page.htm', 'html'],
    ['song.m4a', 'm4a'],
    ['noextension', null],
    ['odd.xyz', null],
    [null, null],
  ])('have for the name %s the format %s', (name, format) => {
    expect(formatOfName(name)).toBe(format);
  });

  // Promise, Direct endpoints: Convert: target, its spellings and case, page, dpi; larger results are returned
  it.each([
    ['jpeg', 'jpg'],
    ['TIF', 'tiff'],
    ['heif', 'heic'],
    ['markdown', 'md'],
    ['jsonl', 'ndjson'],
    ['constructor', null],
    ['exe', null],
  ])('have for the target %s the format %s', (text, format) => {
    expect(targetFormat(text)).toBe(format);
  });

  it('have no extension that belongs to two input formats', () => {
    for (const kind of KINDS) {
      for (const format of inputFormatsOf(kind)) {
        for (const extension of FORMATS[format].extensions) expect(formatOfName(`x.${extension}`)).toBe(format);
      }
    }
  });

  it('have an extension for every convert target', () => {
    for (const kind of KINDS) {
      for (const target of CONVERT_TARGETS[kind]) expect(extensionOf(target)).toMatch(/^[a-z0-9]+$/);
    }
  });
});

describe('isImageTarget', () => {
  it.each(inputFormatsOf('image'))('accepts what compress writes for %s', (format) => {
    const written = FORMATS[format].compressedAs ?? format;
    expect((written === 'jpg or png' ? ['jpg', 'png'] : [written]).every((one) => isImageTarget(one as 'jpg'))).toBe(
      true,
    );
  });

  it('accepts every target of convert, and no camera RAW', () => {
    expect(CONVERT_TARGETS.image.filter((format) => !isImageTarget(format))).toEqual([]);
    expect([isImageTarget('dng'), isImageTarget('mp4')]).toEqual([false, false]);
  });
});
