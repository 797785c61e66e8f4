/** ICC profiles of color spaces: three primaries and a curve, or a curve of gray. Source: ICC.1:2001-04. */
import type { Chromaticity, ColorSpace, Primaries } from '#worker-image/engine/image/color/color-space.ts';

type Vector = readonly [number, number, number];
type Matrix = readonly [Vector, Vector, Vector];

/** White of the profile connection space. */
const D50: Vector = [0.9642, 1, 0.8249];
const BRADFORD: Matrix = [
  [0.8951, 0.2664, -0.1614],
  [-0.7502, 1.7135, 0.0367],
  [0.0389, -0.0685, 1.0296],
];
const HEADER_BYTES = 128;
/** Points of a curve. PQ has as many codes. */
const CURVE_POINTS = 4096;

/** Returns a profile of RGB samples, or of gray ones. */
export function makeIccProfile(
  { primaries, toLinear }: Pick<ColorSpace, 'primaries' | 'toLinear'>,
  samples: 'rgb' | 'gray',
): Buffer {
  const curve = curveTag(toLinear);
  const shared: [string, Buffer][] = [
    ['desc', descriptionTag(samples)],
    ['cprt', Buffer.from('text\0\0\0\0None\0', 'latin1')],
    ['wtpt', xyzTag(D50)],
  ];
  if (samples === 'gray') return assemble('GRAY', [...shared, ['kTRC', curve]]);
  const [red, green, blue] = columns(primaries);
  return assemble('RGB ', [
    ...shared,
    ['rXYZ', xyzTag(red)],
    ['gXYZ', xyzTag(green)],
    ['bXYZ', xyzTag(blue)],
    ['rTRC', curve],
    ['gTRC', curve],
    ['bTRC', curve],
  ]);
}

function assemble(space: string, tags: readonly (readonly [string, Buffer])[]): Buffer {
  const contents = [...new Set(tags.map(([, content]) => content))];
  const offsets = new Map<Buffer, number>();
  let end = HEADER_BYTES + 4 + 12 * tags.length;
  for (const content of contents) {
    offsets.set(content, end);
    end += aligned(content.length);
  }
  const profile = Buffer.alloc(end);
  profile.writeUInt32BE(end, 0);
  profile.writeUInt32BE(0x02_40_00_00, 8);
  profile.write(`mntr${space}XYZ `, 12, 'latin1');
  profile.write('acsp', 36, 'latin1');
  writeXyz(profile, D50, 68);
  profile.writeUInt32BE(tags.length, HEADER_BYTES);
  tags.forEach(([name, content], index) => {
    const at = HEADER_BYTES + 4 + 12 * index;
    profile.write(name, at, 'latin1');
    profile.writeUInt32BE(offsets.get(content) ?? 0, at + 4);
    profile.writeUInt32BE(content.length, at + 8);
  });
  for (const [content, offset] of offsets) content.copy(profile, offset);
  return profile;
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / 4) * 4;
}

function descriptionTag(samples: string): Buffer {
  const name = `${samples} by numbers\0`;
  // The counts of the localized names behind it are 0.
  const tag = Buffer.alloc(12 + name.length + 78);
  tag.write('desc', 0, 'latin1');
  tag.writeUInt32BE(name.length, 8);
  tag.write(name, 12, 'latin1');
  return tag;
}

function curveTag(toLinear: (encoded: number) => number): Buffer {
  const tag = Buffer.alloc(12 + 2 * CURVE_POINTS);
  tag.write('curv', 0, 'latin1');
  tag.writeUInt32BE(CURVE_POINTS, 8);
  for (let i = 0; i < CURVE_POINTS; i += 1) {
    const linear = Math.min(1, Math.max(0, toLinear(i / (CURVE_POINTS - 1))));
    tag.writeUInt16BE(Math.round(linear * 0xff_ff), 12 + 2 * i);
  }
  return tag;
}

function xyzTag(xyz: Vector): Buffer {
  const tag = Buffer.alloc(20);
  tag.write('XYZ ', 0, 'latin1');
  writeXyz(tag, xyz, 8);
  return tag;
}

function writeXyz(buffer: Buffer, xyz: Vector, at: number): void {
  xyz.forEach((value, index) => buffer.writeInt32BE(Math.round(value * 0x1_00_00), at + 4 * index));
}

/** Returns the XYZ of each primary at full intensity, adapted to the white of the connection space. */
function columns({ red, green, blue, white }: Primaries): Matrix {
  const directions: Matrix = [toXyz(red), toXyz(green), toXyz(blue)];
  const intensities = multiply(inverse(transpose(directions)), toXyz(white));
  const adapt = adaptation(toXyz(white));
  return mapVector(directions, (direction, i) =>
    multiply(
      adapt,
      mapVector(direction, (part) => part * (intensities[i] ?? 0)),
    ),
  );
}

/** Returns the matrix that adapts XYZ under a white to D50, by Bradford's method. */
function adaptation(white: Vector): Matrix {
  const [from, to] = [multiply(BRADFORD, white), multiply(BRADFORD, D50)];
  const scaled = mapVector(BRADFORD, (row, i) => mapVector(row, (part) => (part * (to[i] ?? 0)) / (from[i] ?? 1)));
  return product(inverse(BRADFORD), scaled);
}

function toXyz([x, y]: Chromaticity): Vector {
  return [x / y, 1, (1 - x - y) / y];
}

function mapVector<T, U>(
  [one, two, three]: readonly [T, T, T],
  map: (part: T, index: number) => U,
): readonly [U, U, U] {
  return [map(one, 0), map(two, 1), map(three, 2)];
}

function multiply(matrix: Matrix, [x, y, z]: Vector): Vector {
  return mapVector(matrix, ([a, b, c]) => a * x + b * y + c * z);
}

function transpose([[a, b, c], [d, e, f], [g, h, i]]: Matrix): Matrix {
  return [
    [a, d, g],
    [b, e, h],
    [c, f, i],
  ];
}

function product(one: Matrix, other: Matrix): Matrix {
  return transpose(mapVector(transpose(other), (column) => multiply(one, column)));
}

function inverse([[a, b, c], [d, e, f], [g, h, i]]: Matrix): Matrix {
  const determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  const cofactors: Matrix = [
    [e * i - f * h, c * h - b * i, b * f - c * e],
    [f * g - d * i, a * i - c * g, c * d - a * f],
    [d * h - e * g, b * g - a * h, a * e - b * d],
  ];
  return mapVector(cofactors, (row) => mapVector(row, (part) => part / determinant));
}
