import { beforeEach, describe, expect, it } from 'vitest';
import { EnginePermits, EXTRA_AFTER_MS, type EnginePermit } from '#worker-image/sandbox/engine-permits.ts';

let now: number;
let permits: EnginePermits;
/** Names of the files, in the order in which they were granted a permit or refused. */
let granted: string[];
let refused: string[];
/** Permits of the files that have not ended. */
let held: { name: string; permit: EnginePermit }[];

beforeEach(() => {
  now = 0;
  open({ queue: 10, extra: 0 });
});

function open({ queue, extra }: { queue: number; extra: number }): void {
  [granted, refused, held] = [[], [], []];
  permits = new EnginePermits({ nowMs: () => now }, { permits: 2, extra, queue });
}

/** Requests permits for files, whose names begin with their tenant. Returns a function that releases the last one. */
function request(...names: string[]): () => void {
  let release = (): void => undefined;
  for (const name of names) {
    const permit: EnginePermit = permits.acquire({
      tenant: name.charAt(0),
      onGrant: () => granted.push(name),
      onRefuse: () => refused.push(name),
    });
    held.push({ name, permit });
    release = () => permit.release();
  }
  return release;
}

/** Ends a running file of the tenant. */
function end(tenant: string, usedSeconds = 1): void {
  const running = held.find(({ name }) => name.startsWith(tenant) && granted.includes(name));
  held = held.filter((file) => file !== running);
  running?.permit.release(usedSeconds);
}

describe('permits of engine processes', () => {
  it('are all granted to the only tenant', () => {
    request('a1', 'a2', 'a3');
    expect(granted).toEqual(['a1', 'a2']);
    expect([permits.running(), permits.waiting()]).toEqual([2, 1]);
  });

  it('are granted to the tenant that holds the fewest', () => {
    request('a1', 'a2', 'a3', 'a4', 'b1', 'b2');
    end('a');
    expect(granted).toEqual(['a1', 'a2', 'b1']);
    end('a');
    expect(granted.at(-1)).toBe('a3');
    end('b');
    expect(granted.at(-1)).toBe('b2');
  });

  it('are granted to the tenant with less recent use when both hold the same number', () => {
    request('x1', 'y1', 'a1', 'b1', 'a2', 'b2');
    end('x');
    expect(granted.at(-1)).toBe('a1');
    end('a', 30);
    expect(granted.at(-1)).toBe('b1');
    end('b', 1);
    expect(granted.at(-1)).toBe('b2');
    end('b', 1);
    expect(granted.at(-1)).toBe('a2');
  });

  it('weigh recent use more than old use', () => {
    request('a1', 'b1');
    end('a', 30);
    now += 10 * 60_000;
    end('b', 1);
    request('x1', 'x2', 'b2', 'a2');
    end('x');
    expect(granted.at(-1)).toBe('a2');
  });

  it('are not granted to a request that was canceled', () => {
    request('a1', 'a2');
    request('a3')();
    end('a');
    expect([granted, permits.running(), permits.waiting()]).toEqual([['a1', 'a2'], 1, 0]);
  });

  it('are released once only', () => {
    const release = request('a1');
    request('a2', 'a3', 'a4');
    release();
    release();
    expect([granted, permits.running()]).toEqual([['a1', 'a2', 'a3'], 2]);
  });

  it.each([
    { what: 'the new request of the only tenant', queued: ['a3', 'a4'], last: 'a5', dropped: ['a5'] },
    { what: 'the newest request of the tenant that has the most', queued: ['a3', 'a4'], last: 'b1', dropped: ['a4'] },
    { what: 'the new request when all have as many', queued: ['a3', 'b1'], last: 'c1', dropped: ['c1'] },
  ])('are refused for a full queue to $what', ({ queued, last, dropped }) => {
    open({ queue: 2, extra: 0 });
    request('a1', 'a2', ...queued);
    expect(refused).toEqual([]);
    request(last);
    expect(refused).toEqual(dropped);
  });
});

describe('extra permits of engine processes', () => {
  beforeEach(() => open({ queue: 10, extra: 1 }));

  it('are granted to a tenant that has none running, after a wait', () => {
    request('a1', 'a2', 'a3', 'b1', 'b2');
    now += EXTRA_AFTER_MS - 1;
    permits.offerExtra();
    expect(granted).toEqual(['a1', 'a2']);
    now += 1;
    permits.offerExtra();
    expect(granted).toEqual(['a1', 'a2', 'b1']);
  });

  it('are bounded, however many tenants there are', () => {
    request('a1', 'a2', 'b1', 'c1', 'd1');
    now += EXTRA_AFTER_MS;
    permits.offerExtra();
    expect(granted).toEqual(['a1', 'a2', 'b1']);
    end('b');
    expect(granted).toEqual(['a1', 'a2', 'b1', 'c1']);
  });

  it('are added to no released permit: after a file has ended, only as many run as there are permits', () => {
    request('a1', 'a2', 'a3', 'b1');
    now += EXTRA_AFTER_MS;
    permits.offerExtra();
    end('a');
    expect([granted, permits.running()]).toEqual([['a1', 'a2', 'b1'], 2]);
  });

  it('are not granted to a tenant with much recent use', () => {
    request('b1');
    end('b', 100);
    request('a1', 'a2', 'b2', 'c1');
    now += EXTRA_AFTER_MS;
    permits.offerExtra();
    expect(granted).toEqual(['b1', 'a1', 'a2', 'c1']);
  });
});
