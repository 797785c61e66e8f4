import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { POLL_MS, StandbyPolls } from '#controller/standby-polls.ts';
import { completeRunSpec } from '#crds/contract/run-spec.ts';
import { buildRunRequest } from '#test/contract/runs.ts';
import { buildTicket } from '#test/support/build-media-job.ts';

const SPEC = completeRunSpec(buildRunRequest('photo.jpg').spec, buildTicket());

describe('StandbyPolls', () => {
  let polls: StandbyPolls;
  const never = new AbortController().signal;
  beforeEach(() => {
    vi.useFakeTimers();
    polls = new StandbyPolls();
  });
  afterEach(() => vi.useRealTimers());

  it('sends a run to the pod that asks for it, and to no other', async () => {
    const [first, second] = [polls.wait('first', never), polls.wait('second', never)];
    expect([polls.isOpen('first'), polls.isOpen('second')]).toEqual([true, true]);
    polls.send('second', SPEC);
    expect(await second).toEqual(SPEC);
    expect([polls.isOpen('first'), polls.isOpen('second')]).toEqual([true, false]);
    vi.advanceTimersByTime(POLL_MS);
    expect(await first).toBeNull();
    expect(polls.isOpen('first')).toBe(false);
  });

  it('sends the run again to a pod that has not received it, until it is forgotten', async () => {
    polls.send('pod', SPEC);
    expect(await polls.wait('pod', never)).toEqual(SPEC);
    expect(await polls.wait('pod', never)).toEqual(SPEC);
    polls.forget('pod');
    expect(polls.hasRun('pod')).toBe(false);
    const waiting = polls.wait('pod', never);
    polls.close();
    expect(await waiting).toBeNull();
  });

  it('is not open for a pod whose connection has ended', async () => {
    const connection = new AbortController();
    const waiting = polls.wait('pod', connection.signal);
    connection.abort();
    expect(await waiting).toBeNull();
    expect(polls.isOpen('pod')).toBe(false);
    expect(await polls.wait('pod', connection.signal)).toBeNull();
  });

  it('answers the earlier request of a pod that asks again', async () => {
    const earlier = polls.wait('pod', never);
    const later = polls.wait('pod', never);
    expect(await earlier).toBeNull();
    expect(polls.isOpen('pod')).toBe(true);
    polls.send('pod', SPEC);
    expect(await later).toEqual(SPEC);
  });
});
