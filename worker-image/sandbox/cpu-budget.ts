/**
 * CPU time that a file may use, by kind, size and declared content: at least ten times the use of ordinary files.
 * Measurements: hack/decisions/0033-fair-shares-and-cpu-budgets.md.
 */
import type { Kind } from '#crds/catalogue/formats.ts';
import type { Facts, Identified } from '#worker-image/engine/handler.ts';

interface BudgetRow {
  /** Seconds for any file of the kind. */
  readonly base: number;
  /** Seconds for each megabyte of the input. */
  readonly perMegabyte: number;
  /** Seconds for each unit that the file declares. */
  readonly perUnit: number;
  readonly unit: 'pages' | 'megapixels' | 'minutes' | 'megapixel minutes' | 'none';
}

/** CPU time of all processes of a file together, in seconds. */
const BUDGETS: Readonly<Record<Kind, BudgetRow>> = {
  image: { base: 60, perMegabyte: 20, perUnit: 15, unit: 'megapixels' },
  pdf: { base: 30, perMegabyte: 60, perUnit: 10, unit: 'pages' },
  video: { base: 600, perMegabyte: 60, perUnit: 3600, unit: 'megapixel minutes' },
  audio: { base: 60, perMegabyte: 10, perUnit: 60, unit: 'minutes' },
  word: { base: 180, perMegabyte: 120, perUnit: 0, unit: 'none' },
  sheet: { base: 180, perMegabyte: 120, perUnit: 0, unit: 'none' },
  presentation: { base: 180, perMegabyte: 120, perUnit: 0, unit: 'none' },
  table: { base: 60, perMegabyte: 60, perUnit: 0, unit: 'none' },
  font: { base: 60, perMegabyte: 60, perUnit: 0, unit: 'none' },
};

const MEGABYTE = 1024 ** 2;
/** Input size for each page that counts, in bytes: a file may declare one page a thousand times. */
const PAGE_BYTES = 2048;
const FIRST_SECONDS = 30;
const FIRST_SECONDS_PER_MEGABYTE = 20;

/** Returns the seconds of CPU time that a file may use until its kind and facts are known. */
export function firstCpuSeconds(size: number): number {
  return FIRST_SECONDS + (FIRST_SECONDS_PER_MEGABYTE * size) / MEGABYTE;
}

/** Returns the seconds of CPU time that a file may use, once its kind and facts are known. */
export function cpuBudgetSeconds(
  { kind, size }: Pick<Identified, 'kind'> & { readonly size: number },
  facts: Facts,
): number {
  const { base, perMegabyte, perUnit, unit } = BUDGETS[kind];
  return Math.ceil(base + (perMegabyte * size) / MEGABYTE + perUnit * units(unit, size, facts));
}

function units(unit: BudgetRow['unit'], size: number, facts: Facts): number {
  switch (unit) {
    case 'pages':
      return Math.min(facts.pages ?? 1, size / PAGE_BYTES);
    case 'megapixels':
      return megapixels(facts) * (facts.frames ?? 1);
    case 'minutes':
      return (facts.durationSeconds ?? 0) / 60;
    case 'megapixel minutes':
      return (Math.max(1, megapixels(facts)) * (facts.durationSeconds ?? 0)) / 60;
    case 'none':
      return 0;
  }
}

function megapixels({ width, height }: Facts): number {
  return ((width ?? 0) * (height ?? 0)) / 1e6;
}
