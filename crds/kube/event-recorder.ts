/** Kubernetes events of objects, as `kubectl describe` shows them. They are information only. */
import type { KubeClient } from '#crds/kube/kube-client.ts';
import type { Time } from '#crds/kube/time.ts';
import type { Log } from '#crds/process/log.ts';

export interface EventRecorder {
  /** Creates the event in the background. Never throws: a failure is logged. */
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
  /** Reason in CamelCase, from a closed set. */
  readonly reason: string;
  readonly message: string;
}

/** Maximum number of events in flight; further ones are dropped. */
const MAX_IN_FLIGHT = 50;
const MESSAGE_CHARACTERS = 1000;

/** Creates a recorder for the events of a component. */
export function makeEventRecorder(
  deps: {
    readonly client: Pick<KubeClient, 'create'>;
    readonly time: Pick<Time, 'now'>;
    readonly log: Log;
    /** Returns a unique word for the event's name. */
    readonly newWord: () => string;
  },
  { component }: { component: string },
): EventRecorder {
  let inFlight = 0;
  return {
    record(regarding, { type, reason, message }) {
      if (inFlight >= MAX_IN_FLIGHT) return;
      inFlight += 1;
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
          inFlight -= 1;
        });
    },
  };
}
