import { describe, expect, it } from 'vitest';
import { makeRedisOrLocal } from '#api/limits/redis-or-local.ts';

function open() {
  const state = { seconds: 0, fails: false, requests: 0, warnings: 0 };
  const redisOrLocal = makeRedisOrLocal({
    clock: { now: () => new Date(state.seconds * 1000) },
    log: { warn: () => void (state.warnings += 1) },
  });
  const shared = async (): Promise<string> => {
    state.requests += 1;
    if (state.fails) throw new Error('connection refused');
    return 'shared';
  };
  return { state, ask: () => redisOrLocal(shared, async () => 'local') };
}

describe('limits', () => {
  it('are those of Redis while it responds', async () => {
    const { state, ask } = open();
    expect([await ask(), await ask()]).toEqual(['shared', 'shared']);
    expect(state.warnings).toBe(0);
  });

  it('are those of the process during an outage, with one request to Redis a second and one warning a minute', async () => {
    const { state, ask } = open();
    state.fails = true;
    for (; state.seconds < 61; state.seconds += 0.5) expect(await ask()).toBe('local');
    expect([state.requests, state.warnings]).toEqual([61, 2]);
  });

  it('are those of Redis again within a second after an outage', async () => {
    const { state, ask } = open();
    state.fails = true;
    await ask();
    Object.assign(state, { fails: false, seconds: 0.9 });
    expect(await ask()).toBe('local');
    state.seconds = 1;
    expect(await ask()).toBe('shared');
  });
});
