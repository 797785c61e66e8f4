import { describe, expect, it } from 'vitest';
import { planStandbys, type Standby, type StandbyPlan, type StandbyTarget } from '#controller/plan-standbys.ts';

const NOW = new Date('2026-01-01T00:10:00Z');
const ago = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1000);
const IMAGE: StandbyTarget = { kind: 'image', count: 2, hash: 'new', refillAt: ago(60) };

function standby(name: string, more: Partial<Standby> = {}): Standby {
  return { name, kind: 'image', hash: 'new', state: 'ready', createdAt: ago(60), ...more };
}

function plan(standbys: readonly Standby[], target: Partial<StandbyTarget> = {}): StandbyPlan {
  return planStandbys([{ ...IMAGE, ...target }], standbys, NOW);
}

const removed = (standbys: readonly Standby[], target: Partial<StandbyTarget> = {}): string[] =>
  plan(standbys, target).remove.map(({ name }) => name);

describe('planStandbys', () => {
  it('creates those that are missing, by kind', () => {
    const pdf = { ...IMAGE, kind: 'pdf', count: 1 } as const;
    expect(planStandbys([IMAGE, pdf], [standby('a', { state: 'starting' })], NOW)).toEqual({
      create: ['image', 'pdf'],
      remove: [],
      nextAt: null,
    });
  });

  it('creates nothing when there are enough', () => {
    expect(plan([standby('a'), standby('b', { state: 'starting' })])).toEqual({ create: [], remove: [], nextAt: null });
  });

  it('replaces those that are bound or being bound, after the refill time', () => {
    const busy = [standby('a', { state: 'binding' }), standby('b', { state: 'bound' }), standby('c')];
    expect(plan(busy).create).toEqual(['image']);
    const refillAt = new Date(NOW.getTime() + 500);
    expect(plan(busy, { refillAt })).toEqual({ create: [], remove: [], nextAt: refillAt });
  });

  it('removes waiting ones with another template or of a kind that has none, and creates new ones', () => {
    const standbys = [standby('old', { hash: 'old' }), standby('b'), standby('font', { kind: 'font' })];
    expect(plan(standbys).create).toEqual(['image']);
    expect(removed(standbys)).toEqual(['old', 'font']);
  });

  it('removes ended ones with another template; keeps those with the current one, whose pods say why they ended', () => {
    const ended = { state: 'ended', createdAt: ago(600) } as const;
    expect(removed([standby('old', { hash: 'old', ...ended }), standby('a', ended), standby('b')])).toEqual(['old']);
  });

  it('leaves outdated ones alone that have a run', () => {
    expect(
      removed([standby('a', { hash: 'old', state: 'bound' }), standby('b', { hash: 'old', state: 'binding' })]),
    ).toEqual([]);
  });

  it('removes surplus ones, those that have not started first', () => {
    expect(removed([standby('a', { state: 'starting' }), standby('b'), standby('c')])).toEqual(['a']);
    expect(removed([standby('a'), standby('b')], { count: 0 })).toEqual(['a', 'b']);
  });

  it('removes a bound one whose run is elsewhere', () => {
    expect(removed([standby('a', { state: 'stray' }), standby('b'), standby('c')])).toEqual(['a']);
  });

  it('waits longer after each one that has ended without a run, and never longer than five minutes', () => {
    const ended = (count: number, createdAt: Date) =>
      Array.from({ length: count }, (_, index) => standby(`ended-${index}`, { state: 'ended', createdAt }));
    expect(plan(ended(1, ago(2)))).toEqual({ create: [], remove: [], nextAt: new Date(NOW.getTime() + 3000) });
    expect(plan(ended(1, ago(6))).create).toEqual(['image', 'image']);
    expect(plan(ended(2, ago(6))).nextAt).toEqual(new Date(NOW.getTime() + 4000));
    expect(plan(ended(30, ago(299))).nextAt).toEqual(new Date(NOW.getTime() + 1000));
    const outdated = ended(30, ago(1)).map((one) => ({ ...one, hash: 'old' }));
    expect(plan(outdated).create).toEqual(['image', 'image']);
  });
});
