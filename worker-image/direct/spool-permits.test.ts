import { beforeEach, describe, expect, it } from 'vitest';
import {
  CONTENTION_BYTES_PER_SECOND,
  PACE_GRACE_MS,
  type SpoolPermit,
  SpoolPermits,
} from '#worker-image/direct/spool-permits.ts';

let now: number;
let permits: SpoolPermits;
/** Names of the requests whose permits were revoked. */
let revoked: string[];

beforeEach(() => {
  now = 0;
  revoked = [];
  permits = new SpoolPermits({ nowMs: () => now }, { requests: 4, bytes: 1000 });
});

/** Requests a permit for a body, whose name begins with its tenant. */
function acquire(name: string, bytes = 10): SpoolPermit | null {
  return permits.acquire({ tenant: name.charAt(0), bytes, onRevoke: () => revoked.push(name) });
}

function acquireAll(...names: string[]): (SpoolPermit | null)[] {
  return names.map((name) => acquire(name));
}

function startSending(permit: SpoolPermit): void {
  permit.complete();
  permit.startSending();
}

describe('permits to spool', () => {
  it.each([
    ['number of bodies', ['a1', 'a2', 'a3', 'a4'], 10],
    ['sum of declared bytes', ['a1', 'a2'], 500],
  ])('are bounded by the %s', (_what, names, bytes) => {
    const acquired = names.map((name) => acquire(name, bytes));
    expect(acquired).not.toContain(null);
    expect(acquire('a5', bytes)).toBeNull();
    acquired[0]?.release();
    acquired[0]?.release();
    expect([acquire('a6', bytes), acquire('a7', bytes)]).toEqual([expect.anything(), null]);
    expect(revoked).toEqual([]);
  });

  it('report a body with more bytes than it declared', () => {
    const permit = acquire('a1', 10);
    expect([permit?.receive(10), permit?.receive(1)]).toEqual([true, false]);
  });

  it('are revoked from the newest body of the tenant with the largest share', () => {
    acquireAll('a1', 'a2', 'b1', 'a3');
    expect(acquire('c1')).not.toBeNull();
    expect(revoked).toEqual(['a3']);
  });

  it('are revoked from as many bodies as the new one needs', () => {
    for (const name of ['a1', 'a2', 'a3']) acquire(name, 300);
    expect(acquire('b1', 500)).not.toBeNull();
    expect(revoked).toEqual(['a3', 'a2']);
  });

  it('are not revoked from a tenant that has only its share', () => {
    acquireAll('a1', 'a2', 'a3', 'a4');
    expect(acquireAll('b1', 'b2', 'b3').map((permit) => permit !== null)).toEqual([true, true, false]);
    expect(revoked).toEqual(['a4', 'a3']);
  });

  it('are not revoked from a complete body', () => {
    for (const permit of acquireAll('a1', 'a2', 'a3', 'a4')) permit?.complete();
    expect(acquire('b1')).toBeNull();
    expect(revoked).toEqual([]);
  });

  it('are not revoked for a request that would not fit even then', () => {
    acquireAll('a1', 'a2', 'a3', 'a4');
    expect(acquire('b1', 1001)).toBeNull();
    expect(revoked).toEqual([]);
  });

  describe.each([
    ['body', (permit: SpoolPermit) => (bytes: number) => void permit.receive(bytes)],
    ['result', (permit: SpoolPermit) => (bytes: number) => permit.sent(bytes)],
  ])('of equals', (what, transferOf) => {
    const names = ['a1', 'b1', 'c1', 'd1'];
    let transfers: ((bytes: number) => void)[];
    beforeEach(() => {
      permits = new SpoolPermits({ nowMs: () => now }, { requests: 4, bytes: 1e9 });
      transfers = names.map((name) => {
        const permit = acquire(name, 1e8);
        if (permit === null) throw new Error(`${name} has no permit`);
        if (what === 'result') startSending(permit);
        return transferOf(permit);
      });
    });

    it.each([
      { what: 'are taken from the slowest', rates: [0.5, 0.25, 2, 2], taken: ['b1'] },
      { what: 'are not taken at the pace', rates: [1, 2, 2, 2], taken: [] },
    ])(`$what ${what}`, ({ rates, taken }) => {
      for (let second = 0; second < 20; second += 1) {
        now += 1000;
        transfers.forEach((transfer, n) => transfer((rates[n] ?? 0) * CONTENTION_BYTES_PER_SECOND));
      }
      expect(acquire('e1', 1e8) !== null).toBe(taken.length > 0);
      expect(revoked).toEqual(taken);
    });

    it(`are taken from a ${what} that stalls after a burst`, () => {
      for (const transfer of transfers) transfer(5e7);
      now += PACE_GRACE_MS;
      transfers.slice(1).forEach((transfer) => transfer(5e7));
      expect(acquire('e1', 1e8)).not.toBeNull();
      expect(revoked).toEqual(['a1']);
    });
  });

  it('are not revoked from the results of the tenant with the largest share', () => {
    for (const permit of acquireAll('a1', 'a2', 'a3', 'a4')) if (permit !== null) startSending(permit);
    expect(acquire('b1')).toBeNull();
    expect(revoked).toEqual([]);
  });

  it('are not revoked from slow bodies of equal tenants that have just begun', () => {
    acquireAll('a1', 'b1', 'c1', 'd1');
    now = PACE_GRACE_MS - 1;
    expect(acquire('e1')).toBeNull();
  });
});
