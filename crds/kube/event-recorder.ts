/** Events on objects: what `kubectl describe` shows under Events. They tell, nobody acts on them. */
import type { KubeClient } from '#crds/kube/kube-client.ts';
import type { Time } from '#crds/kube/time.ts';
import type { Log } from '#crds/shared/log.ts';

export interface EventRecorder {
  /** Never throws and is never waited for: an event that cannot be written is logged. */
  record(regarding: ObjectReference, event: KubeEvent): void;
}

export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface KubeEvent {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, from a closed set. */
  readonly reason: string;
  readonly message: string;
}

/** As many events as may be on their way; further ones are dropped. */
const UNDER_WAY = 50;
const MESSAGE_CHARACTERS = 1000;

export function makeEventRecorder(
  deps: {
    readonly client: Pick<KubeClient, 'create'>;
    readonly time: Pick<Time, 'now'>;
    readonly log: Log;
    /** A word that no other event has. */
    readonly newWord: () => string;
  },
  { component }: { component: string },
): EventRecorder {
  let underWay = 0;
  return {
    record(regarding, { type, reason, message }) {
      if (underWay >= UNDER_WAY) return;
      underWay += 1;
      const now = deps.time
        .now()
        .toISOString()
        .replace(/\.\d+Z$/, 'Z');
      const event = {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: `${regarding.name}.${deps.newWord()}`, namespace: regarding.namespace },
        involvedObject: regarding,
        type,
        reason,
        message: message.slice(0, MESSAGE_CHARACTERS),
        source: { component },
        firstTimestamp: now,
        lastTimestamp: now,
        count: 1,
      };
      void deps.client
        .create(`/api/v1/namespaces/${regarding.namespace}/events`, event)
        .catch((error: unknown) => deps.log.warn({ err: error, reason }, 'event not recorded'))
        .finally(() => {
          underWay -= 1;
        });
    },
  };
}
