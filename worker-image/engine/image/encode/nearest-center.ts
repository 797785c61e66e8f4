/** Search for the nearest of up to 256 points of four coordinates. */

const COORDINATES = 4;

/** Returns the squared distance of two points, which begin at an offset of their arrays. */
export function squaredDistance(one: Float32Array, atOne: number, other: Float32Array, atOther: number): number {
  const a = (one[atOne] ?? 0) - (other[atOther] ?? 0);
  const b = (one[atOne + 1] ?? 0) - (other[atOther + 1] ?? 0);
  const c = (one[atOne + 2] ?? 0) - (other[atOther + 2] ?? 0);
  const d = (one[atOne + 3] ?? 0) - (other[atOther + 3] ?? 0);
  return a * a + b * b + c * c + d * d;
}

/**
 * Centers in the order of the sums of their coordinates. The squared difference of two sums is at most four times the squared
 * distance, so that few centers on either side are compared. None is compared with a point that is nearer to its guess than
 * half the distance from there to the next center.
 */
export class NearestCenter {
  readonly #centers: Float32Array;
  readonly #sums: Float32Array;
  /** Number of the center at each rank. */
  readonly #numbers: Uint8Array;
  /** Rank of each center. */
  readonly #ranks: Uint8Array;
  /** Quarter of the squared distance of each rank's center to the nearest other one. */
  readonly #reaches: Float32Array;
  /** Rank of the nearest center that was found, and its squared distance. */
  #nearest = 0;
  #least = 0;

  constructor(centers: Float32Array) {
    const size = centers.length / COORDINATES;
    const sums = Float32Array.from({ length: size }, (_, center) => sumAt(centers, center * COORDINATES));
    this.#numbers = Uint8Array.from(sums, (_sum, center) => center).toSorted(
      (one, other) => (sums[one] ?? 0) - (sums[other] ?? 0),
    );
    this.#ranks = new Uint8Array(size);
    this.#sums = new Float32Array(size);
    this.#centers = new Float32Array(centers.length);
    this.#numbers.forEach((center, rank) => {
      this.#ranks[center] = rank;
      this.#sums[rank] = sums[center] ?? 0;
      this.#centers.set(centers.subarray(center * COORDINATES, (center + 1) * COORDINATES), rank * COORDINATES);
    });
    this.#reaches = measureReaches(this.#centers);
  }

  /** Returns the number of the center that is nearest to the point at an offset. @param guess Center to begin with. */
  find(points: Float32Array, at: number, guess: number): number {
    const begin = this.#ranks[guess] ?? 0;
    const least = squaredDistance(points, at, this.#centers, begin * COORDINATES);
    if (least <= (this.#reaches[begin] ?? 0)) return guess;
    this.#nearest = begin;
    this.#least = least;
    this.#compare(points, at, { begin, step: 1 });
    this.#compare(points, at, { begin, step: -1 });
    return this.#numbers[this.#nearest] ?? 0;
  }

  /** Compares the centers on one side of a rank. */
  #compare(points: Float32Array, at: number, { begin, step }: { begin: number; step: 1 | -1 }): void {
    const sum = sumAt(points, at);
    let least = this.#least;
    for (let rank = begin + step; rank >= 0 && rank < this.#sums.length; rank += step) {
      if (isBeyond(((this.#sums[rank] ?? 0) - sum) * step, least)) break;
      const distance = squaredDistance(points, at, this.#centers, rank * COORDINATES);
      if (distance >= least) continue;
      least = distance;
      this.#nearest = rank;
    }
    this.#least = least;
  }
}

/** Returns whether no center whose sum is that much further away can be nearer than the squared distance. */
function isBeyond(difference: number, least: number): boolean {
  return difference > 0 && difference * difference >= COORDINATES * least;
}

function measureReaches(centers: Float32Array): Float32Array {
  const reaches = new Float32Array(centers.length / COORDINATES).fill(Infinity);
  for (let one = 0; one < reaches.length; one += 1) {
    for (let other = 0; other < one; other += 1) {
      const reach = squaredDistance(centers, one * COORDINATES, centers, other * COORDINATES) / 4;
      if (reach < (reaches[one] ?? 0)) reaches[one] = reach;
      if (reach < (reaches[other] ?? 0)) reaches[other] = reach;
    }
  }
  return reaches;
}

function sumAt(points: Float32Array, at: number): number {
  return (points[at] ?? 0) + (points[at + 1] ?? 0) + (points[at + 2] ?? 0) + (points[at + 3] ?? 0);
}
