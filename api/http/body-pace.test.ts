import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { atPace } from '#api/http/body-pace.ts';
import { MediaError } from '#crds/media-error.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => vi.useRealTimers());

const KIB = 1024;
/** A body that is read as fast as it comes. */
function read(): { body: PassThrough; failure: Promise<unknown>; hasFailed: () => boolean } {
  const body = new PassThrough();
  const paced = atPace(body).resume();
  const failure = new Promise((resolve) => paced.once('error', resolve));
  return { body, failure, hasFailed: () => paced.destroyed };
}

describe('the pace of a body', () => {
  it('ends a body that falls behind the minimum pace', async () => {
    const { body, failure, hasFailed } = read();
    body.write(Buffer.alloc(20 * KIB));
    await new Promise(setImmediate);
    vi.advanceTimersByTime(20_000);
    expect(hasFailed()).toBe(false);
    body.write(Buffer.alloc(20 * KIB - 1));
    await new Promise(setImmediate);
    vi.advanceTimersByTime(20_000);
    expect(await failure).toMatchObject(
      new MediaError('bad_request', 'The body came slower than 1 KiB per second over 20 seconds.'),
    );
  });

  it('does not blame a client that waits for us', async () => {
    const body = new PassThrough();
    const paced = atPace(body);
    body.write(Buffer.alloc(64 * KIB));
    await new Promise(setImmediate);
    vi.advanceTimersByTime(20_000);
    vi.advanceTimersByTime(20_000);
    expect(paced.destroyed).toBe(false);
  });

  it('ends with the body', async () => {
    const { body, hasFailed } = read();
    body.end('x');
    await new Promise(setImmediate);
    vi.advanceTimersByTime(60_000);
    expect(vi.getTimerCount()).toBe(0);
    expect(hasFailed()).toBe(true);
  });

  it('says so when the connection closes in the middle', async () => {
    const { body, failure } = read();
    body.write('x');
    body.destroy();
    expect(await failure).toMatchObject({ code: 'bad_request' });
  });

  it.each([
    ['before it is passed on', (body: PassThrough) => void body.destroy(), () => undefined],
    ['before anyone reads', () => undefined, (body: PassThrough) => void body.destroy()],
    ['with an error', () => undefined, (body: PassThrough) => void body.destroy(new Error('aborted'))],
  ])('tells a late reader when the connection closed %s, and nobody else', async (_when, before, after) => {
    const body = new PassThrough().on('error', () => undefined);
    body.write('x');
    before(body);
    await new Promise(setImmediate);
    const paced = atPace(body);
    after(body);
    // Here an error that nobody hears would end the process.
    await new Promise(setImmediate);
    await expect(buffer(paced)).rejects.toThrow(/closed before|aborted/);
  });
});
