/** Deterministic damages of a file, as full disks, lost or misplaced blocks, and bit errors leave them. */
import { seededRandom, type SeededRandom } from '#test/faults/seeded-random.ts';

export interface Damage {
  /** Kind and place of the damage, such as `truncated to 1200`. */
  readonly name: string;
  readonly bytes: Buffer;
}

interface Damaged {
  readonly good: Buffer;
  /** Another file of the same format, whose bytes replace some of the good one. */
  readonly other: Buffer;
  readonly random: SeededRandom;
}

/** A maker of one damage. Each is called `share` times per hundred damages. */
interface Maker {
  readonly share: number;
  readonly make: (file: Damaged, number: number) => Damage;
}

const MAKERS: readonly Maker[] = [
  { share: 18, make: truncate },
  { share: 22, make: (file) => overwrite(file, 'flipped', 1, flip) },
  { share: 10, make: (file) => overwrite(file, 'scrambled', 16, flip) },
  { share: 15, make: (file) => overwrite(file, 'zeroed', blockOf(file), () => 0) },
  { share: 10, make: swap },
  { share: 8, make: duplicate },
  { share: 9, make: drop },
  { share: 8, make: replace },
];

/** Returns `count` damages of the file, each different from it, always the same ones for the same arguments. */
export function damagesOf(good: Buffer, other: Buffer, count: number): Damage[] {
  const random = seededRandom(`${good.length}`);
  const file = { good, other, random };
  const made = MAKERS.flatMap(({ share, make }) =>
    Array.from({ length: Math.round((count * share) / 100) }, (_, number) => again(() => make(file, number), good)),
  );
  return made.slice(0, count);
}

/** Returns the first damage that changes the file: swapped blocks can be equal. */
function again(make: () => Damage, good: Buffer): Damage {
  for (;;) {
    const damage = make();
    if (!damage.bytes.equals(good)) return damage;
  }
}

const SMALLEST_BLOCK = 16;

/** Returns the size of a block, from a 64th to an eighth of the file. */
function blockOf({ good, random }: Damaged): number {
  return Math.max(SMALLEST_BLOCK, Math.floor(good.length / random.pick([8, 16, 32, 64])));
}

/** Cuts single bytes and powers of two off the end first, then anywhere. */
function truncate({ good, random }: Damaged, number: number): Damage {
  const lost = number < 12 ? 2 ** number : 1 + random.below(good.length - 1);
  const kept = Math.max(1, good.length - lost);
  return { name: `truncated to ${kept}`, bytes: good.subarray(0, kept) };
}

function flip(byte: number, random: SeededRandom): number {
  return byte ^ (1 + random.below(255));
}

function overwrite(
  { good, random }: Damaged,
  what: string,
  size: number,
  change: (byte: number, random: SeededRandom) => number,
): Damage {
  const at = random.below(Math.max(1, good.length - size));
  const bytes = Buffer.from(good);
  for (let i = at; i < Math.min(bytes.length, at + size); i += 1) bytes[i] = change(bytes[i] ?? 0, random);
  return { name: `${what} ${size} at ${at}`, bytes };
}

function swap(file: Damaged): Damage {
  const { good, random } = file;
  const size = Math.min(blockOf(file), Math.floor(good.length / 4));
  const first = random.below(good.length - 2 * size);
  const second = first + size + random.below(good.length - first - 2 * size);
  const bytes = Buffer.from(good);
  good.copy(bytes, first, second, second + size);
  good.copy(bytes, second, first, first + size);
  return { name: `swapped ${size} at ${first} and ${second}`, bytes };
}

function duplicate(file: Damaged): Damage {
  const { good, random } = file;
  const size = blockOf(file);
  const at = random.below(good.length - size);
  const bytes = Buffer.concat([good.subarray(0, at + size), good.subarray(at)]);
  return { name: `duplicated ${size} at ${at}`, bytes };
}

function drop(file: Damaged): Damage {
  const { good, random } = file;
  const size = blockOf(file);
  const at = random.below(good.length - size);
  const bytes = Buffer.concat([good.subarray(0, at), good.subarray(at + size)]);
  return { name: `dropped ${size} at ${at}`, bytes };
}

/** Overwrites a block by the same bytes of another file. */
function replace(file: Damaged): Damage {
  const { good, other, random } = file;
  const size = Math.min(blockOf(file), other.length);
  const at = random.below(Math.max(1, Math.min(good.length, other.length) - size));
  const bytes = Buffer.from(good);
  other.copy(bytes, at, at, at + size);
  return { name: `replaced ${size} at ${at}`, bytes };
}
