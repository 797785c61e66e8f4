import type { KubeObject } from '#crds/kube/kube-object.ts';
import type { PodTimes } from '#controller/run-state.ts';

/** Times at which this process first saw pods run and end, by its own clock. A node's clock may be wrong. */
export class SeenPodTimes implements PodTimes {
  readonly #now: () => Date;
  readonly #running = new Map<string, Date>();
  readonly #ended = new Map<string, Date>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  runningSince({ metadata: { uid } }: KubeObject): Date {
    return firstTime(this.#running, uid, this.#now);
  }

  endedAt({ metadata: { uid } }: KubeObject): Date {
    return firstTime(this.#ended, uid, this.#now);
  }

  forget({ metadata: { uid } }: KubeObject): void {
    this.#running.delete(uid);
    this.#ended.delete(uid);
  }
}

function firstTime(times: Map<string, Date>, uid: string, now: () => Date): Date {
  const time = times.get(uid) ?? now();
  times.set(uid, time);
  return time;
}
