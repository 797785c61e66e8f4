import { describe, expect, it } from 'vitest';
import { handleOnce, readIdempotencyKey } from '#api/jobs/idempotency.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase({ maxConnections: 20 });
let now = new Date('2026-01-01T00:00:00Z');
const deps = { database, clock: { now: () => now } };
let keys = 0;
const request = (body = '{"a":1}') => {
  keys += 1;
  return { accountId: 'acc_1', livemode: true, key: `key-${keys}`, raw: Buffer.from(body) };
};

/** Returns a handler that stores its response in a transaction, as job creation does, and counts its calls. */
function handler(): { handle: Parameters<typeof handleOnce<{ id: string }>>[2]; handled: () => number } {
  let handled = 0;
  return {
    handled: () => handled,
    handle: async (store) => {
      handled += 1;
      const created = { id: `job_${handled}` };
      await database.transaction(async (tx) => store?.(tx, created));
      return created;
    },
  };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (error instanceof MediaError ? error.code : String(error)),
  );

describe('handleOnce', () => {
  // Promise, Jobs: Idempotency: the same response, conflict, in progress, 24 hours, 1 to 255 characters
  it('returns the stored response to a repeated request', async () => {
    const first = request();
    const { handle, handled } = handler();
    await handleOnce(deps, first, handle);
    const repeat = await handleOnce(deps, first, handle);
    expect(repeat).toEqual({ kind: 'replayed', created: { id: 'job_1' } });
    expect(handled()).toBe(1);
  });

  // Promise, Jobs: Idempotency: the same response, conflict, in progress, 24 hours, 1 to 255 characters
  it('rejects a repeated key with another body', async () => {
    const first = request();
    await handleOnce(deps, first, handler().handle);
    expect(await codeOf(handleOnce(deps, { ...first, raw: Buffer.from('{ "a":1}') }, handler().handle))).toBe(
      'idempotency_conflict',
    );
  });

  // Promise, Jobs: Idempotency: the same response, conflict, in progress, 24 hours, 1 to 255 characters
  it('handles the same key of another mode or account as a first request', async () => {
    const first = request();
    await handleOnce(deps, first, handler().handle);
    const { handle, handled } = handler();
    await handleOnce(deps, { ...first, livemode: false }, handle);
    await handleOnce(deps, { ...first, accountId: 'acc_2' }, handle);
    expect(handled()).toBe(2);
  });

  it('handles one of 50 concurrent copies of a request', async () => {
    const copy = request();
    const { handle, handled } = handler();
    const codes = await Promise.all(Array.from({ length: 50 }, () => codeOf(handleOnce(deps, copy, handle))));
    expect(handled()).toBe(1);
    expect(codes.filter((code) => code !== null && code !== 'idempotency_in_progress')).toEqual([]);
  });

  // Promise, Settled where the interface leaves it open: An Idempotency-Key stores the job and refusals of the body itself
  it('releases the key after a refusal that a retry may pass', async () => {
    const refused = request();
    const refusing = handleOnce(deps, refused, async () => {
      throw new MediaError('concurrency_limited', 'later');
    });
    expect(await codeOf(refusing)).toBe('concurrency_limited');
    expect(await handleOnce(deps, refused, handler().handle)).toMatchObject({ kind: 'created' });
  });

  // Promise, Settled where the interface leaves it open: An Idempotency-Key stores the job and refusals of the body itself
  it('stores a refusal of the body and returns it to a repeated request', async () => {
    const wrong = request();
    const refusing = handleOnce(deps, wrong, async () => {
      throw new MediaError('bad_request', 'There is no field `x`.', { param: 'x' });
    });
    expect(await codeOf(refusing)).toBe('bad_request');
    const repeat = await handleOnce(deps, wrong, handler().handle);
    const refusal = new MediaError('bad_request', 'There is no field `x`.', { param: 'x' });
    expect(repeat).toEqual({ kind: 'replayed_refusal', refusal });
    expect(repeat).toMatchObject({ refusal: { code: 'bad_request', param: 'x', status: 400 } });
    expect(await codeOf(handleOnce(deps, { ...wrong, raw: Buffer.from('{}') }, handler().handle))).toBe(
      'idempotency_conflict',
    );
  });

  // Promise, Bad input, case by case: Idempotency
  it('handles the request again after the lease of a dead handler has expired', async () => {
    const dead = request();
    await new Promise<void>((begun) => {
      void handleOnce(deps, dead, () => {
        begun();
        return new Promise<never>(() => {});
      });
    });
    expect(await codeOf(handleOnce(deps, dead, handler().handle))).toBe('idempotency_in_progress');
    now = new Date(now.getTime() + 62_000);
    expect(await handleOnce(deps, dead, handler().handle)).toMatchObject({ kind: 'created' });
  });

  it('handles a key as new after 24 hours', async () => {
    const old = request();
    await handleOnce(deps, old, handler().handle);
    now = new Date(now.getTime() + 24 * 3600 * 1000);
    const { handle, handled } = handler();
    await handleOnce(deps, { ...old, raw: Buffer.from('{}') }, handle);
    expect(handled()).toBe(1);
  });

  it.each([[''], ['x'.repeat(256)]])('rejects a key that is empty or longer than 255 characters', (key) => {
    expect(() => readIdempotencyKey(key)).toThrow(MediaError);
  });
});
