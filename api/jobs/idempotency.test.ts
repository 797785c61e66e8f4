import { describe, expect, it } from 'vitest';
import { once, readIdempotencyKey } from '#api/jobs/idempotency.ts';
import { MediaError } from '#crds/media-error.ts';
import { makeLog } from '#crds/shared/log.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase({ maxConnections: 20 });
let now = new Date('2026-01-01T00:00:00Z');
const deps = { database, clock: { now: () => now }, log: makeLog('test', 'error'), docsUrl: 'https://media.test/docs' };
let keys = 0;
const request = (body = '{"a":1}') => {
  keys += 1;
  return { id: 'req_1', accountId: 'acc_1', livemode: true, key: `key-${keys}`, raw: Buffer.from(body) };
};

/** Handles a request as job creation does: the answer is stored in a transaction. */
function handler(): { handle: Parameters<typeof once>[2]; handled: () => number } {
  let handled = 0;
  return {
    handled: () => handled,
    handle: async (store) => {
      handled += 1;
      const body = { id: `job_${handled}` };
      await database.transaction((tx) => store(tx, { status: 202, body }));
      return { status: 202, body };
    },
  };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (error instanceof MediaError ? error.code : String(error)),
  );

describe('idempotency', () => {
  it('answers a repeat as the first request', async () => {
    const first = request();
    const { handle, handled } = handler();
    await once(deps, first, handle);
    const repeat = await once(deps, first, handle);
    expect(repeat).toMatchObject({
      status: 202,
      body: { id: 'job_1' },
      headers: { 'Svc-Idempotent-Replayed': 'true' },
    });
    expect(handled()).toBe(1);
  });

  it('refuses another body', async () => {
    const first = request();
    await once(deps, first, handler().handle);
    expect(await codeOf(once(deps, { ...first, raw: Buffer.from('{ "a":1}') }, handler().handle))).toBe(
      'idempotency_conflict',
    );
  });

  it('keeps modes and accounts apart', async () => {
    const first = request();
    await once(deps, first, handler().handle);
    const { handle, handled } = handler();
    await once(deps, { ...first, livemode: false }, handle);
    await once(deps, { ...first, accountId: 'acc_2' }, handle);
    expect(handled()).toBe(2);
  });

  it('handles one of 50 parallel copies', async () => {
    const copy = request();
    const { handle, handled } = handler();
    const codes = await Promise.all(Array.from({ length: 50 }, () => codeOf(once(deps, copy, handle))));
    expect(handled()).toBe(1);
    expect(codes.filter((code) => code !== null && code !== 'idempotency_in_progress')).toEqual([]);
  });

  it('frees the key after a refusal', async () => {
    const refused = request();
    const refusing = once(deps, refused, async () => {
      throw new MediaError('concurrency_limited', 'later');
    });
    expect(await codeOf(refusing)).toBe('concurrency_limited');
    expect(await once(deps, refused, handler().handle)).toMatchObject({ status: 202 });
  });

  it('keeps a refusal of the body itself', async () => {
    const wrong = request();
    const refusing = once(deps, wrong, async () => {
      throw new MediaError('bad_request', 'There is no field `x`.', { param: 'x' });
    });
    expect(await codeOf(refusing)).toBe('bad_request');
    const repeat = await once(deps, { ...wrong, id: 'req_2' }, handler().handle);
    expect(repeat).toMatchObject({
      status: 400,
      body: { error: { code: 'bad_request', param: 'x', request_id: 'req_2' } },
    });
    expect(repeat.headers).toEqual({ 'Svc-Idempotent-Replayed': 'true' });
    expect(await codeOf(once(deps, { ...wrong, raw: Buffer.from('{}') }, handler().handle))).toBe(
      'idempotency_conflict',
    );
  });

  it('lets the next request take over from a handler that died', async () => {
    const dead = request();
    await new Promise<void>((begun) => {
      void once(deps, dead, () => {
        begun();
        return new Promise(() => {});
      });
    });
    expect(await codeOf(once(deps, dead, handler().handle))).toBe('idempotency_in_progress');
    now = new Date(now.getTime() + 62_000);
    expect(await once(deps, dead, handler().handle)).toMatchObject({ status: 202 });
  });

  it('forgets after 24 hours', async () => {
    const old = request();
    await once(deps, old, handler().handle);
    now = new Date(now.getTime() + 24 * 3600 * 1000);
    const { handle, handled } = handler();
    await once(deps, { ...old, raw: Buffer.from('{}') }, handle);
    expect(handled()).toBe(1);
  });

  it.each([[''], ['x'.repeat(256)]])('refuses a key of a wrong length', (key) => {
    expect(() => readIdempotencyKey(key)).toThrow(MediaError);
  });
});
