/** How like two pictures are, and the quality number at which a server's picture is as like as wanted. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import type { Score } from '#test/bench/ssimulacra2.ts';

export interface Similarity {
  /** SSIMULACRA2 of an encoded picture on white; of the first frame of an animation. */
  readonly of: (encoded: Buffer) => Promise<number>;
}

let names = 0;

/** @param reference - The picture as an encoder gets it, already of the wanted size. */
export async function similarityTo(score: Score, folder: string, reference: Buffer): Promise<Similarity> {
  const own = join(folder, `reference-${(names += 1)}.png`);
  const { width, height } = await onWhite(sharp(reference)).toFile(own);
  return {
    of: async (encoded) => {
      const decoded = join(folder, `decoded-${(names += 1)}.png`);
      // Servers differ by a pixel in how they round a side.
      await onWhite(sharp(encoded).resize(width, height, { fit: 'fill' })).toFile(decoded);
      const found = await score(own, decoded);
      await rm(decoded);
      return found;
    },
  };
}

function onWhite(picture: Sharp): Sharp {
  return picture.flatten({ background: '#ffffff' }).toColourspace('srgb').png({ compressionLevel: 1 });
}

export interface Tuned {
  readonly quality: number;
  readonly bytes: number;
  readonly score: number;
}

/** Points of score that are near enough. */
const NEAR = 0.3;
const MAX_QUALITY = 100;

interface Tuning {
  /** A score. */
  readonly wanted: number;
  /** The quality that is tried first. */
  readonly guess: number;
  readonly encode: (quality: number) => Promise<{ bytes: Buffer; score: number }>;
}

/**
 * Returns the lowest quality of 1 to 100 with the wanted similarity; null when 100 does not reach it. It may be a little
 * less like, by less than one can tell. Searches in steps that double from the guess on, which takes two tries when it is
 * right, then by bisection.
 */
export async function tuneTo({ wanted, guess, encode }: Tuning): Promise<Tuned | null> {
  let [low, high] = [0, MAX_QUALITY + 1];
  let best: Tuned | null = null;
  let [quality, step] = [guess, 1];
  while (high - low > 1) {
    const { bytes, score } = await encode(quality);
    const isEnough = score >= wanted - NEAR;
    if (isEnough) [high, best] = [quality, { quality, bytes: bytes.length, score }];
    else low = quality;
    if (Math.abs(score - wanted) <= NEAR) break;
    const isBracketed = low > 0 && high <= MAX_QUALITY;
    const next = isBracketed ? Math.round((low + high) / 2) : isEnough ? quality - step : quality + step;
    quality = Math.min(MAX_QUALITY, Math.max(1, next));
    step *= 2;
  }
  return best;
}

/** Qualities that were found before, by what they are for: a good guess saves most tries. */
export interface Guesses {
  readonly of: (name: string) => number;
  readonly keep: (name: string, quality: number) => Promise<void>;
}

const COMMON_QUALITY = 75;

/** @param cache - A folder that stays. */
export async function openGuesses(cache: string): Promise<Guesses> {
  const file = join(cache, 'qualities.json');
  const text = await readFile(file, 'utf8').catch(() => '{}');
  const known = JSON.parse(text) as Record<string, number>;
  return {
    of: (name) => known[name] ?? COMMON_QUALITY,
    keep: async (name, quality) => {
      known[name] = quality;
      await writeFile(file, JSON.stringify(known, null, 1));
    },
  };
}
