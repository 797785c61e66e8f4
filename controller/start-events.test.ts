import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { StartEvents } from '#controller/start-events.ts';

const JOB = 'job-1-a1';
const FORBIDDEN = `Error creating: pods "${JOB}-x8kz2" is forbidden: violates PodSecurity "restricted:latest"`;
const CONFLICT =
  'Error creating: Operation cannot be fulfilled on resourcequotas "compute": the object has been modified; please apply your changes to the latest version and try again';

describe('StartEvents', () => {
  const at = (seconds: number): Date => new Date(Date.parse('2026-01-01T00:00:00Z') + seconds * 1000);
  let seconds: number;
  let events: KubeObject[];
  let withoutPod: readonly string[];
  let changed: string[];
  let startEvents: StartEvents;
  let ended: AbortController;
  /** Ends the current interval between reads. */
  let tick: (() => void) | null;

  beforeEach(async () => {
    [seconds, events, withoutPod, changed, tick] = [0, [], [JOB], [], null];
    ended = new AbortController();
    startEvents = new StartEvents(
      {
        client: { list: async () => ({ metadata: { resourceVersion: '1' }, items: events }) },
        time: { now: () => at(seconds), wait: () => new Promise<void>((next) => (tick = next)) },
      },
      {
        namespace: 'media',
        withoutPod: () => withoutPod,
        unstarted: () => new Map(),
        onChange: (job) => changed.push(job),
      },
      ended.signal,
    );
    await vi.waitUntil(() => tick !== null);
  });
  afterEach(() => {
    ended.abort();
    tick?.();
  });

  const report = (message: string, times: object = { lastTimestamp: at(seconds).toISOString() }): void => {
    const metadata = { name: `${JOB}.${events.length}`, uid: 'uid', resourceVersion: '1' };
    events.push({
      metadata: { ...metadata, creationTimestamp: at(0).toISOString() },
      involvedObject: { kind: 'Job', name: JOB },
      message,
      ...times,
    });
  };
  const readAt = async (second: number): Promise<ReturnType<StartEvents['messageOf']>> => {
    seconds = second;
    const before = tick;
    before?.();
    await vi.waitUntil(() => tick !== before, { interval: 1 });
    return startEvents.messageOf(JOB);
  };

  it.each([
    ['a quota that is exceeded', `pods "${JOB}-a" is forbidden: exceeded quota: compute, requested: pods=1`],
    ['a quota that is not calculated yet', `pods "${JOB}-a" is forbidden: status unknown for quota: compute`],
    ['a quota that another request changed', CONFLICT],
    ['a webhook without a response', 'Internal error occurred: failed calling webhook "x": service "x" not found'],
    ['a timeout', 'Timeout: request did not complete within requested timeout - context deadline exceeded'],
  ])('does not say that a run can never start because of %s', async (_what, message) => {
    report(message);
    expect(await readAt(5)).toEqual({ text: message });
  });

  it.each([
    ['Pod Security refuses', FORBIDDEN],
    ['has no service account', `pods "${JOB}-a" is forbidden: error looking up service account: "x" not found`],
    ['lacks a limit that a quota requires', `pods "${JOB}-a" is forbidden: failed quota: x: must specify limits.cpu`],
    ['is not valid', 'Pod "x" is invalid: spec.containers[0].image: Required value'],
    ['belongs in a namespace that does not exist', 'namespaces "media" not found'],
    ['a policy refuses', 'admission webhook "validate.kyverno.svc-fail" denied the request: no'],
  ])('says since when a run cannot start whose pod %s', async (_what, message) => {
    report(message);
    expect(await readAt(5)).toEqual({ text: message, impossibleSince: at(5) });
    expect(await readAt(10)).toEqual({ text: message, impossibleSince: at(5) });
    expect(changed).toEqual([JOB]);
  });

  it('counts the time of lasting refusals together although each names another pod', async () => {
    report(FORBIDDEN);
    await readAt(5);
    const next = FORBIDDEN.replace('x8kz2', 'b7tr9');
    report(next);
    expect(await readAt(10)).toEqual({ text: next, impossibleSince: at(5) });
  });

  it('counts the time again after another message', async () => {
    report(FORBIDDEN);
    await readAt(5);
    report(CONFLICT);
    expect(await readAt(10)).toEqual({ text: CONFLICT });
    report(FORBIDDEN);
    expect(await readAt(15)).toEqual({ text: FORBIDDEN, impossibleSince: at(15) });
  });

  it('counts the time again when the Job had a pod meanwhile', async () => {
    report(FORBIDDEN);
    await readAt(5);
    withoutPod = [];
    expect(await readAt(10)).toBeUndefined();
    withoutPod = [JOB];
    expect(await readAt(15)).toMatchObject({ impossibleSince: at(15) });
  });

  it('has the message of the newest event, in whatever order they are listed', async () => {
    seconds = 60;
    report(CONFLICT);
    report(FORBIDDEN, { lastTimestamp: null, eventTime: at(30).toISOString() });
    report('no time of its own', {});
    expect(await readAt(65)).toEqual({ text: CONFLICT });
  });
});
