import { describe, expect, it, vi } from 'vitest';
import { makeEventRecorder } from '#crds/kube/event-recorder.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { makeLog } from '#crds/process/log.ts';
import { mockObject } from '#test/support/mock-api-server.ts';

const REGARDING = { apiVersion: 'v1', kind: 'Pod', namespace: 'media', name: 'worker', uid: 'uid-1' };
const EVENT = { type: 'Normal', reason: 'Running', message: 'm'.repeat(2000) } as const;

function recorderWith(create: (path: string, body: object) => Promise<KubeObject>) {
  return makeEventRecorder(
    {
      client: { create },
      time: { now: () => new Date('2026-01-01T00:00:00.123Z') },
      log: makeLog('test', 'silent'),
      newWord: () => 'word',
    },
    { component: 'mediajobs-controller' },
  );
}

describe('an event recorder', () => {
  it('creates the event in the namespace of the object, with times in whole seconds and a bounded message', () => {
    const created: [string, object][] = [];
    recorderWith(async (path, body) => {
      created.push([path, body]);
      return mockObject('event', 1);
    }).record(REGARDING, EVENT);
    expect(created).toEqual([
      [
        '/api/v1/namespaces/media/events',
        expect.objectContaining({
          metadata: { name: 'worker.word', namespace: 'media' },
          involvedObject: REGARDING,
          firstTimestamp: '2026-01-01T00:00:00Z',
          message: 'm'.repeat(1000),
        }),
      ],
    ]);
  });

  it('drops events while 50 are in flight, and continues after failures', async () => {
    const rejects: ((error: Error) => void)[] = [];
    const recorder = recorderWith(() => new Promise((_resolve, reject) => rejects.push(reject)));
    for (let count = 0; count < 51; count += 1) recorder.record(REGARDING, EVENT);
    expect(rejects).toHaveLength(50);
    rejects[0]?.(new Error('refused'));
    await vi.waitFor(() => {
      recorder.record(REGARDING, EVENT);
      expect(rejects).toHaveLength(51);
    });
  });
});
