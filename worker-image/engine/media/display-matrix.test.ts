import { describe, expect, it } from 'vitest';
import { isTransformed, rotationOf } from '#worker-image/engine/media/display-matrix.ts';

const ONE = 65_536;

/** Returns a stream with side data, as ffprobe prints it. */
function matrix(numbers: readonly [number, number, number, number], rotation: number) {
  const [a, b, c, d] = numbers;
  const rows = [
    [a, b, 0],
    [c, d, 0],
    [0, 90 * ONE, 2 ** 30],
  ];
  const lines = rows.map((row, index) => {
    return `${String(index).padStart(8, '0')}: ${row.map((value) => String(value).padStart(11)).join(' ')}`;
  });
  const display = { rotation, displaymatrix: `\n${lines.join('\n')}\n` };
  return { side_data_list: [{ rotation: 0, displaymatrix: '' }, display] };
}

describe('a display matrix', () => {
  it.each([
    ['the identity', [ONE, 0, 0, ONE], 0, 0, false],
    ['a vertical flip', [ONE, 0, 0, -ONE], 0, 0, true],
    ['a horizontal flip', [-ONE, 0, 0, ONE], -180, 180, true],
    ['a rotation by 90 degrees', [0, ONE, -ONE, 0], -90, 90, true],
    ['a rotation by 10 degrees', [64_540, 11_380, -11_380, 64_540], -10, 0, true],
    ['zeros', [0, 0, 0, 0], -(2 ** 63), 0, false],
  ] as const)('of %s is parsed', (_what, numbers, printed, rotation, transformed) => {
    const video = matrix(numbers, printed);
    expect([rotationOf(video), isTransformed(video)]).toEqual([rotation, transformed]);
  });

  it('may be missing', () => {
    for (const video of [null, {}]) expect([rotationOf(video), isTransformed(video)]).toEqual([0, false]);
  });
});
