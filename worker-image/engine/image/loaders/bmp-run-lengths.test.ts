import { describe, expect, it } from 'vitest';
import type { BmpHeader } from '#worker-image/engine/image/loaders/bmp-header.ts';
import { readRunLengths } from '#worker-image/engine/image/loaders/bmp-run-lengths.ts';

interface Runs {
  readonly hex: string;
  readonly bits?: 4 | 8;
  readonly topDown?: boolean;
  readonly compression?: 'rle4' | 'rle8';
}

/** Returns the indices of an image of 4 × 2 pixels, as one digit each, rows top down. */
function indices({ hex, bits = 8, topDown = false, compression = `rle${bits}` }: Runs): string {
  const header = { width: 4, height: 2, bits, compression, topDown, pixelOffset: 1 } as BmpHeader;
  const found = readRunLengths(Buffer.from(`ff${hex.replaceAll(' ', '')}`, 'hex'), header);
  return Buffer.from(found).toString('hex').replaceAll(/0(.)/g, '$1');
}

describe('readRunLengths', () => {
  it.each<readonly [string, Runs, string]>([
    ['runs, from the bottom row up', { hex: '0401 0000 0402 0001' }, '22221111'],
    ['runs of a top-down image', { hex: '0401 0000 0402 0001', topDown: true }, '11112222'],
    ['literal pixels with their padding', { hex: '0003 010203 00 0001' }, '00001230'],
    ['runs of 4 bits, which alternate', { hex: '0412 0001', bits: 4 }, '00001212'],
    ['literal pixels of 4 bits', { hex: '0003 1230 0001', bits: 4 }, '00001230'],
    ['moves of the cursor', { hex: '0101 0002 0101 0103 0001' }, '00301000'],
    ['pixels outside the image, which are dropped', { hex: 'ff01 0000 0000 0000 0402 0001' }, '00001111'],
    ['a move far outside the image', { hex: '0002 ffff 0401 0001' }, '00000000'],
  ])('reads %s', (_what, runs, expected) => {
    expect(indices(runs)).toBe(expected);
  });

  it.each<readonly [string, Runs]>([
    ['no end mark', { hex: '0401 0000' }],
    ['no data', { hex: '' }],
    ['a truncated run', { hex: '04' }],
    ['literal pixels beyond the end', { hex: '00ff 01' }],
    ['4 bits in runs of 8', { hex: '0001', bits: 4, compression: 'rle8' }],
    ['8 bits in runs of 4', { hex: '0001', bits: 8, compression: 'rle4' }],
  ])('refuses %s', (_what, runs) => {
    expect(() => indices(runs)).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });
});
