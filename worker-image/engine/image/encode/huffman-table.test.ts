import { describe, expect, it } from 'vitest';
import { eachCode, optimalTable } from '#worker-image/engine/image/encode/huffman-table.ts';

/** Returns frequencies of which each is the sum of the two before: without a limit their codes would have one bit more each. */
function fibonacci(count: number): Uint32Array {
  const frequencies = new Uint32Array(256);
  for (let [at, one, next] = [0, 1, 1]; at < count; [at, one, next] = [at + 1, next, one + next]) frequencies[at] = one;
  return frequencies;
}

function codesOf(frequencies: Uint32Array): Map<number, string> {
  const codes = new Map<number, string>();
  eachCode(optimalTable(frequencies), (symbol, code, length) =>
    codes.set(symbol, code.toString(2).padStart(length, '0')),
  );
  return codes;
}

describe('optimalTable', () => {
  it('gives the frequent symbols the short codes', () => {
    const frequencies = new Uint32Array(256);
    frequencies.set([1, 2, 4, 8], 10);
    expect([...codesOf(frequencies)]).toEqual([
      [13, '0'],
      [12, '10'],
      [11, '110'],
      [10, '1110'],
    ]);
  });

  it.each([1, 2, 17, 40])(
    'gives %d symbols codes of at most 16 bits, none of them a prefix of another or ones only',
    (count) => {
      const codes = [...codesOf(fibonacci(count)).values()];
      expect(codes).toHaveLength(count);
      for (const code of codes) {
        expect(code.length).toBeLessThanOrEqual(16);
        expect(code).toContain('0');
        expect(codes.filter((other) => other.startsWith(code))).toEqual([code]);
      }
    },
  );
});
