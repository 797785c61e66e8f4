import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NearestCenter, squaredDistance } from '#worker-image/engine/image/encode/nearest-center.ts';

const point = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 });

describe('NearestCenter', () => {
  it('finds a center that no other one is nearer than, whatever the guess', () => {
    const centers = fc.array(point, { minLength: 1, maxLength: 256 });
    fc.assert(
      fc.property(centers, point, fc.nat(), (from, wanted, number) => {
        const [all, points] = [Float32Array.from(from.flat()), Float32Array.from(wanted)];
        const found = new NearestCenter(all).find(points, 0, number % from.length);
        const distances = from.map((_, center) => squaredDistance(points, 0, all, center * 4));
        expect(distances[found]).toBe(Math.min(...distances));
      }),
    );
  });
});
