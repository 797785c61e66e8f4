/**
 * Messages of Kubernetes about Jobs whose pod it refuses to create: quotas, limits, Pod Security, admission policies, a
 * missing service account, runtime class or priority class. They are only in events, which are read at intervals while
 * a Job without a pod exists.
 */
import type { KubeClient } from '#crds/kube/kube-client.ts';
import type { Time } from '#crds/kube/time.ts';

export interface RefusedPodsDeps {
  readonly client: Pick<KubeClient, 'list'>;
  readonly time: Pick<Time, 'wait'>;
}

interface RefusedPodsOptions {
  readonly namespace: string;
  /** Returns the names of the Jobs that lack a pod. */
  readonly withoutPod: () => readonly string[];
  /** Called with the name of a Job that has another message than before. */
  readonly onChange: (job: string) => void;
}

const INTERVAL_MS = 5000;
const QUERY = { fieldSelector: 'involvedObject.kind=Job,reason=FailedCreate' };

export class RefusedPods {
  readonly #deps: RefusedPodsDeps;
  readonly #options: RefusedPodsOptions;
  #messages: ReadonlyMap<string, string> = new Map();

  /** Reads events until the signal aborts. */
  constructor(deps: RefusedPodsDeps, options: RefusedPodsOptions, signal: AbortSignal) {
    this.#deps = deps;
    this.#options = options;
    void this.#run(signal);
  }

  /** Returns why the pod of a Job is refused; undefined when it is not. */
  messageOf(job: string): string | undefined {
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
    const names = this.#options.withoutPod();
    this.#messages = names.length === 0 ? new Map() : await this.#messagesOf(new Set(names));
    for (const [name, message] of this.#messages) if (before.get(name) !== message) this.#options.onChange(name);
  }

  async #messagesOf(names: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
    const { items } = await this.#deps.client.list(`/api/v1/namespaces/${this.#options.namespace}/events`, QUERY);
    return new Map(
      items.flatMap(({ involvedObject, message }): [string, string][] => {
        const { name } = involvedObject as { name: string };
        return names.has(name) ? [[name, String(message)]] : [];
      }),
    );
  }
}
