import { describe, expect, it } from 'vitest';
import { unpackSamples } from '#worker-image/engine/image/loaders/unpack-tiff-samples.ts';

interface Row {
  readonly hex: string;
  readonly bits: number;
  readonly count: number;
  readonly isLittle?: boolean;
  readonly isInverted?: boolean;
  readonly isFloat?: boolean;
}

function unpacked({ hex, bits, count, isLittle = true, isInverted = false, isFloat = false }: Row): number[] {
  const out = new Uint16Array(count);
  const coding = { bits, isLittle, isInverted, isFloat };
  unpackSamples(Buffer.from(hex, 'hex'), { out, at: 0, step: 1, count }, coding);
  return [...out];
}

describe('unpackSamples', () => {
  it.each<readonly [string, Row, readonly number[]]>([
    ['2 bits', { hex: '1b', bits: 2, count: 4 }, [0, 21_845, 43_690, 65_535]],
    ['4 bits', { hex: '0f', bits: 4, count: 2 }, [0, 65_535]],
    ['12 bits across bytes', { hex: '000fff', bits: 12, count: 2 }, [0, 65_535]],
    ['15 bits', { hex: 'fffe', bits: 15, count: 1 }, [65_535]],
    ['24 bits, little-endian', { hex: '563412', bits: 24, count: 1 }, [0x1234]],
    ['24 bits, big-endian', { hex: '123456', bits: 24, count: 1, isLittle: false }, [0x1234]],
    ['32 bits, little-endian', { hex: '78563412', bits: 32, count: 1 }, [0x1234]],
    ['inverted samples', { hex: '1b', bits: 2, count: 4, isInverted: true }, [65_535, 43_690, 21_845, 0]],
    [
      'half floats 0, 0.5, 1, 2',
      { hex: '0000003800 3c0040'.replace(' ', ''), bits: 16, count: 4, isFloat: true },
      [0, 32_768, 65_535, 65_535],
    ],
    ['a negative half float', { hex: '00b8', bits: 16, count: 1, isFloat: true }, [0]],
    ['the smallest half float, big-endian', { hex: '0001', bits: 16, count: 1, isFloat: true, isLittle: false }, [0]],
    ['missing bytes as 0', { hex: '', bits: 12, count: 2 }, [0, 0]],
  ])('reads %s', (_what, row, samples) => {
    expect(unpacked(row)).toEqual(samples);
  });

  it('writes the samples of a plane at their distance, from the given index on', () => {
    const out = new Uint16Array(7).fill(1);
    const coding = { bits: 4, isLittle: true, isInverted: false, isFloat: false };
    unpackSamples(Buffer.from('f0', 'hex'), { out, at: 2, step: 3, count: 2 }, coding);
    expect([...out]).toEqual([1, 1, 65_535, 1, 1, 0, 1]);
  });
});
