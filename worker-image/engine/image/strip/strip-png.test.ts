import { describe, expect, it } from 'vitest';
import { makePngChunk, PNG_SIGNATURE } from '#worker-image/engine/containers/png-chunks.ts';
import { makeOrientationTiff } from '#worker-image/engine/image/strip/orientation-exif.ts';
import { stripPng } from '#worker-image/engine/image/strip/strip-png.ts';

const chunk = (type: string, data: Buffer = Buffer.from('ab')): Buffer => makePngChunk(type, data);
const exif = (orientation: number): Buffer => chunk('eXIf', makeOrientationTiff(orientation));
const [HEADER, PIXELS, END] = [chunk('IHDR'), chunk('IDAT'), chunk('IEND', Buffer.alloc(0))];
const png = (...chunks: readonly Buffer[]): Buffer => Buffer.concat([PNG_SIGNATURE, HEADER, ...chunks, END]);

describe('stripPng', () => {
  it.each(['tEXt', 'zTXt', 'iTXt', 'tIME', 'eXIf', 'caBX', 'prVt'])('removes the chunk %s', (type) => {
    expect(stripPng(png(chunk(type), PIXELS, chunk(type))).equals(png(PIXELS))).toBe(true);
  });

  it.each(['PLTE', 'tRNS', 'gAMA', 'iCCP', 'cICP', 'pHYs', 'acTL', 'fcTL', 'fdAT'])('keeps the chunk %s', (type) => {
    expect(stripPng(png(chunk(type), PIXELS)).equals(png(chunk(type), PIXELS))).toBe(true);
  });

  it('keeps the orientation, in front of the pixels wherever it was', () => {
    expect(stripPng(png(PIXELS, exif(6))).equals(png(exif(6), PIXELS))).toBe(true);
    expect(stripPng(png(exif(1), PIXELS)).equals(png(PIXELS))).toBe(true);
  });

  it.each<readonly [string, Buffer]>([
    ['no bytes', Buffer.alloc(0)],
    ['no end chunk', png(PIXELS).subarray(0, -12)],
    ['a chunk longer than the file', Buffer.concat([PNG_SIGNATURE, HEADER, Buffer.from('ffffffff'), END])],
  ])('refuses a file with %s', (_what, file) => {
    expect(() => stripPng(file)).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });
});
