/**
 * Messages of Kubernetes that are only in events: about Jobs whose pod it refuses to create (quotas, limits, Pod
 * Security, admission policies, a missing service account, runtime class or priority class), and about pods that the
 * node cannot prepare: it mounts no volume, or the container runtime makes no sandbox, as without a network plugin or
 * without the handler of a runtime class. Events are read at intervals while such a Job or pod exists.
 */
import type { KubeClient } from '#crds/kube/kube-client.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import type { Time } from '#crds/kube/time.ts';

export interface StartEventsDeps {
  readonly client: Pick<KubeClient, 'list'>;
  readonly time: Pick<Time, 'now' | 'wait'>;
}

/** Message of the newest event about a Job or its pod. */
export interface StartMessage {
  readonly text: string;
  /** Time since which every read has found a lasting refusal; absent: the newest message is of another kind. */
  readonly impossibleSince?: Date;
}

interface StartEventsOptions {
  readonly namespace: string;
  /** Returns the names of the Jobs that lack a pod. */
  readonly withoutPod: () => readonly string[];
  /** Returns the Jobs whose pod has a node and no started container, by the name of the pod. */
  readonly unstarted: () => ReadonlyMap<string, string>;
  /** Called with the name of a Job that has another message than before. */
  readonly onChange: (job: string) => void;
}

const INTERVAL_MS = 5000;
const REFUSED = { kind: 'Job', reasons: ['FailedCreate'] };
/** Refusals that last until somebody changes the installation. */
const LASTING = / is forbidden: | is invalid: | not found\b| denied the request\b/;
/** Refusals that read like them and may end without a change: those of full quotas and of webhooks without a response. */
const TRANSIENT = /exceeded quota|unknown for quota|Internal error occurred/;
const NOT_PREPARED = { kind: 'Pod', reasons: ['FailedMount', 'FailedAttachVolume', 'FailedCreatePodSandBox'] };

export class StartEvents {
  readonly #deps: StartEventsDeps;
  readonly #options: StartEventsOptions;
  #messages: ReadonlyMap<string, StartMessage> = new Map();
  /** Pods of the last read. Most start before the next one, so that their events are not read. */
  #unstarted: ReadonlyMap<string, string> = new Map();

  /** Reads events until the signal aborts. */
  constructor(deps: StartEventsDeps, options: StartEventsOptions, signal: AbortSignal) {
    this.#deps = deps;
    this.#options = options;
    void this.#run(signal);
  }

  /** Returns why the pod of a Job is refused or cannot be prepared; undefined when neither is known. */
  messageOf(job: string): StartMessage | undefined {
    return this.#messages.get(job);
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // After an error the messages stay as they are until the next interval. The client counts the error.
      await this.#read().catch(() => undefined);
      await this.#deps.time.wait(INTERVAL_MS, signal);
    }
  }

  async #read(): Promise<void> {
    const before = this.#messages;
    const refused = new Map(this.#options.withoutPod().map((job) => [job, job]));
    const unstarted = this.#options.unstarted();
    const slow = new Map([...unstarted].filter(([pod]) => this.#unstarted.has(pod)));
    this.#unstarted = unstarted;
    const refusals = await this.#messagesOf(refused, REFUSED);
    const unprepared = await this.#messagesOf(slow, NOT_PREPARED);
    const now = this.#deps.time.now();
    this.#messages = new Map([
      ...[...refusals].map(([job, text]) => [job, refusal(text, before.get(job)?.impossibleSince ?? now)] as const),
      ...[...unprepared].map(([job, text]) => [job, { text }] as const),
    ]);
    for (const [name, { text }] of this.#messages) if (before.get(name)?.text !== text) this.#options.onChange(name);
  }

  /** Returns the message of the newest event by Job. `jobs`: Job of each object that the events are about. */
  async #messagesOf(
    jobs: ReadonlyMap<string, string>,
    { kind, reasons }: { kind: string; reasons: readonly string[] },
  ): Promise<ReadonlyMap<string, string>> {
    if (jobs.size === 0) return new Map();
    // A field selector has no "or".
    const lists = reasons.map((reason) =>
      this.#deps.client.list(`/api/v1/namespaces/${this.#options.namespace}/events`, {
        fieldSelector: `involvedObject.kind=${kind},reason=${reason}`,
      }),
    );
    const events = (await Promise.all(lists)).flatMap(({ items }) => items);
    return new Map(
      events
        .toSorted((a, b) => timeOf(a) - timeOf(b))
        .flatMap(({ involvedObject, message }) => {
          const job = jobs.get((involvedObject as { name: string }).name);
          return job === undefined ? [] : [[job, String(message)] as const];
        }),
    );
  }
}

/** Returns the message of a refused pod. `since`: time since which it was refused for good. */
function refusal(text: string, since: Date): StartMessage {
  return LASTING.test(text) && !TRANSIENT.test(text) ? { text, impossibleSince: since } : { text };
}

/** Returns the time of the last occurrence of an event, in milliseconds. */
function timeOf({ metadata, lastTimestamp, eventTime }: KubeObject): number {
  const times = [lastTimestamp, eventTime, metadata.creationTimestamp];
  return Date.parse(times.find((time) => typeof time === 'string') ?? '');
}
