/** Figures of several rounds as one: the middle, its noise, the ratio to the service's own, and who is on the front. */
import { median } from '#test/bench/print-figures.ts';
import { OURS, samplesOf, type MeasuredCase } from './measured.ts';
import type { Front } from './row.ts';

/** Returns half the range of the samples, as a share of their median. */
export function noiseOf(samples: readonly number[]): number {
  const middle = median(samples);
  return middle === 0 ? 0 : (Math.max(...samples) - Math.min(...samples)) / 2 / Math.abs(middle);
}

/** Returns the median ratio of the rounds to the service's figure; null when one of the two was not measured. */
export function ratioToOurs(one: MeasuredCase, who: string, metric: string): number | null {
  const [theirs, ours] = [samplesOf(one, who, metric), samplesOf(one, OURS, metric)];
  const rounds = Math.min(theirs.length, ours.length);
  if (rounds === 0) return null;
  return median(Array.from({ length: rounds }, (_, at) => (theirs[at] ?? 0) / (ours[at] ?? 1)));
}

/** A point where a peer is faster. */
export interface Lead {
  readonly who: string;
  readonly metric: string;
  /** How many times as fast. */
  readonly faster: number;
}

/** A point where it is smaller, too. */
export interface Win extends Lead {
  /** Its size as a part of ours. */
  readonly smaller: number;
}

/** Points of score within which two results count as alike. */
const ALIKE = 0.5;
/** A part of the bytes that nobody would notice. */
const SAME_SIZE = 0.005;

/** Peers that are faster, by more than the noise of both, and smaller at a similarity that is no worse. */
export function winsOf(one: MeasuredCase, front: Front): Win[] {
  const alike = peersIn(one).filter((who) => isAlike(one, who, front));
  return alike.flatMap((who) => winsOfOne(one, who, front));
}

function isAlike(one: MeasuredCase, who: string, { similarity }: Front): boolean {
  if (one.remarks[who] !== undefined) return false;
  // Where it was not measured, what was remarked decides.
  if (similarity === undefined || samplesOf(one, OURS, similarity).length === 0) return true;
  const [theirs, ours] = [samplesOf(one, who, similarity), samplesOf(one, OURS, similarity)];
  return theirs.length > 0 && median(theirs) >= median(ours) - ALIKE;
}

function winsOfOne(one: MeasuredCase, who: string, { speed, size }: Front): Win[] {
  const smaller = size === undefined ? null : ratioToOurs(one, who, size);
  if (smaller === null || smaller >= 1 - SAME_SIZE) return [];
  return leadsOfOne(one, who, speed).map((lead) => ({ ...lead, smaller }));
}

/** Returns every point where a peer is faster by more than the noise of both, the largest lead first. */
export function leadsOf(one: MeasuredCase, { speed }: Pick<Front, 'speed'>): Lead[] {
  const leads = peersIn(one).flatMap((who) => leadsOfOne(one, who, speed));
  return leads.toSorted((lead, other) => other.faster - lead.faster);
}

function leadsOfOne(one: MeasuredCase, who: string, { metrics, better }: Front['speed']): Lead[] {
  return metrics.flatMap((metric) => {
    const ratio = ratioToOurs(one, who, metric);
    if (ratio === null) return [];
    const faster = better === 'more' ? ratio : 1 / ratio;
    const noise = noiseOf(samplesOf(one, who, metric)) + noiseOf(samplesOf(one, OURS, metric));
    return faster > 1 + noise ? [{ who, metric, faster }] : [];
  });
}

function peersIn({ figures }: MeasuredCase): string[] {
  return [...new Set(figures.map(({ who }) => who))].filter((who) => who !== OURS);
}
