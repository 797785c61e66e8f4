import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withMinimumPace } from '#api/http/body-pace.ts';
import { MediaError } from '#crds/contract/media-error.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => vi.useRealTimers());

const KIB = 1024;
/** Returns a body whose stream is readBody without a pause. */
function readBody(): { body: PassThrough; failure: Promise<unknown>; hasFailed: () => boolean } {
  const body = new PassThrough();
  const paced = withMinimumPace(body).resume();
  const failure = new Promise((resolve) => paced.once('error', resolve));
  return { body, failure, hasFailed: () => paced.destroyed };
}

describe('the pace of a body', () => {
  // Promise, Bad input, case by case: Slow clients
  it('fails a body that falls below the minimum pace', async () => {
    const { body, failure, hasFailed } = readBody();
    body.write(Buffer.alloc(20 * KIB));
    await new Promise(setImmediate);
    vi.advanceTimersByTime(20_000);
    expect(hasFailed()).toBe(false);
    body.write(Buffer.alloc(20 * KIB - 1));
    await new Promise(setImmediate);
    vi.advanceTimersByTime(20_000);
    expect(await failure).toMatchObject(
      new MediaError('bad_request', 'The body was slower than 1 KiB per second over 20 seconds.'),
    );
  });

  it('does not fail a body whose reader is slow', async () => {
    const body = new PassThrough();
    const paced = withMinimumPace(body);
    body.write(Buffer.alloc(64 * KIB));
    await new Promise(setImmediate);
    vi.advanceTimersByTime(20_000);
    vi.advanceTimersByTime(20_000);
    expect(paced.destroyed).toBe(false);
  });

  it('stops its timer when the body ends', async () => {
    const { body, hasFailed } = readBody();
    body.end('x');
    await new Promise(setImmediate);
    vi.advanceTimersByTime(60_000);
    expect(vi.getTimerCount()).toBe(0);
    expect(hasFailed()).toBe(true);
  });

  it('fails when the connection closes before the end of the body', async () => {
    const { body, failure } = readBody();
    body.write('x');
    body.destroy();
    expect(await failure).toMatchObject({ code: 'bad_request' });
  });

  it.each([
    ['before it is passed on', (body: PassThrough) => void body.destroy(), () => undefined],
    ['before anyone reads', () => undefined, (body: PassThrough) => void body.destroy()],
    ['with an error', () => undefined, (body: PassThrough) => void body.destroy(new Error('aborted'))],
  ])('reports to a late reader alone that the connection closed %s', async (_when, before, after) => {
    const body = new PassThrough().on('error', () => undefined);
    body.write('x');
    before(body);
    await new Promise(setImmediate);
    const paced = withMinimumPace(body);
    after(body);
    // An error event without a listener would end the process during this tick.
    await new Promise(setImmediate);
    await expect(buffer(paced)).rejects.toThrow(/closed before|aborted/);
  });
});
