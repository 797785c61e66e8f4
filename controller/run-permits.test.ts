import { beforeEach, describe, expect, it } from 'vitest';
import { OFFER_MS, RunPermits } from '#controller/run-permits.ts';

let now: number;
let permits: RunPermits;

beforeEach(() => {
  now = 0;
  open({ extra: 0 });
});

function open({ extra }: { extra: number }): void {
  permits = new RunPermits({ nowMs: () => now }, { permits: 2, extra });
}

/** Tries to acquire a permit for each run, named for its account. Returns the runs that got one. */
function acquire(...runs: string[]): string[] {
  return runs.filter((run) => permits.acquire(run, run.charAt(0)));
}

describe('RunPermits', () => {
  it('grants all permits to a single account, one for each run', () => {
    expect(acquire('a1', 'a1', 'a2', 'a3')).toEqual(['a1', 'a1', 'a2']);
  });

  it('offers a free permit to the account that holds the fewest and reserves it', () => {
    acquire('a1', 'a2', 'a3', 'b1');
    expect(permits.release('a1')).toEqual(['a1', 'b1']);
    expect(acquire('a3')).toEqual([]);
    expect(acquire('b1')).toEqual(['b1']);
  });

  it('grants an offered permit to others after the offer has expired', () => {
    acquire('a1', 'a2', 'a3', 'b1');
    permits.release('a1');
    now = OFFER_MS;
    expect(acquire('a3')).toEqual(['a3']);
  });

  it('offers a permit to the next account when the waiting run is released', () => {
    acquire('a1', 'a2', 'a3', 'b1');
    permits.release('a1');
    expect(permits.release('b1')).toEqual(['a3']);
    expect(acquire('a3')).toEqual(['a3']);
  });

  it('offers a permit to the account whose runs recently used less time when both hold as many', () => {
    acquire('a1');
    now = 60_000;
    permits.release('a1');
    acquire('x1', 'x2', 'a2', 'b1');
    expect(permits.release('x1')).toEqual(['x1', 'b1']);
  });

  it('counts runs that exist already, also above the limit', () => {
    for (const run of ['a1', 'a2', 'b1']) permits.hold(run, run.charAt(0));
    expect(acquire('c1')).toEqual([]);
    expect(permits.release('a1')).toEqual(['a1', 'c1']);
    expect(acquire('c1')).toEqual([]);
    permits.release('b1');
    expect(acquire('c1')).toEqual(['c1']);
  });

  it('grants nothing after it was closed', () => {
    permits.close();
    expect(acquire('a1')).toEqual([]);
  });
});

describe('RunPermits with extra permits', () => {
  beforeEach(() => open({ extra: 1 }));

  it('grants one to an account that holds none', () => {
    expect(acquire('a1', 'a2', 'a3', 'b1', 'b2', 'c1')).toEqual(['a1', 'a2', 'b1']);
  });

  it('grants none to an account whose runs recently used much time', () => {
    acquire('b1');
    now = 200_000;
    permits.release('b1');
    expect(acquire('a1', 'a2', 'b2', 'c1')).toEqual(['a1', 'a2', 'c1']);
  });
});
