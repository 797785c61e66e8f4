/**
 * Admission control of the direct lane: decides by a request's headers whether to receive its body. Pure: the clock is
 * passed in. Two bounds hold, and both are shared fairly between tenants.
 *
 * Work: the requests in the lane whose files are received, waiting or processed. A burst waits in the queue. When a
 * request is shed, the lane is overloaded:
 *
 *   normal ──a request is shed──▶ overloaded ──none was shed for 5 seconds, or after a minute──▶ normal
 *
 * While overloaded, a long queue would delay every request without raising the throughput. Only as many requests are
 * admitted as keep the processes busy, and the others are shed at once. This bound grows slowly after files that found
 * a process idle, and falls by one after a file that waited long. A body that takes longer than `SLOW_BODY_MS` counts
 * again once it is complete: slow callers keep no process idle.
 *
 * Spool: number and declared bytes of all requests (`spool-permits.ts`).
 */
import { SpoolPermits, type SpoolLimits, type SpoolPermit } from '#worker-image/direct/spool-permits.ts';

export interface AdmissionRequest {
  readonly tenant: string;
  /** Maximum number of bytes of the body. */
  readonly bytes: number;
  /** Called when another request needs the spool space of a body or a result that is being transferred. */
  readonly onRevoke: () => void;
}

/** Admission of one request, from its headers to the end of its response. */
export interface LaneAdmission {
  /** Counts bytes of the body. Returns false when there are more than the request declared. */
  receive(bytes: number): boolean;
  /** Marks the body as complete. */
  complete(): void;
  /** Records that a process starts on the file, which has waited for it in the queue. */
  started(waitedMs: number): void;
  /** Records that the file is processed: from here on the request takes only spool space. */
  ended(): void;
  /** Counts bytes of the result. */
  sent(bytes: number): void;
  /** Ends the admission. Repeatable. */
  release(): void;
}

export interface AdmissionOptions {
  /** Maximum number of files that are processed at once. */
  readonly children: number;
  /** Maximum number of files in the queue. */
  readonly queue: number;
  readonly spool: SpoolLimits;
}

const OVERLOADED_MS = 60_000;
const QUIET_MS = 5000;
/** Maximum expected wait for a process, in milliseconds; processing has no more than two minutes. */
const LONGEST_WAIT_MS = 30_000;
/** Wait above which fewer requests are admitted while overloaded, as a share of the mean processing time. */
const LONG_WAIT = 1 / 10;
/** Wait below which more requests are admitted while overloaded, as a share of the mean processing time. */
const NO_WAIT = 1 / 50;
const GROWTH = 1 + 1 / 8;
/** Weight of the newest file in the mean processing time. */
const WEIGHT = 1 / 8;
/** Time that a body may take before its request counts as slow, in milliseconds. */
export const SLOW_BODY_MS = 2000;

interface LaneRequest {
  readonly tenant: string;
  readonly admittedAtMs: number;
  /** True when it was admitted above the bound, within its tenant's share. */
  readonly isExtra: boolean;
  isComplete: boolean;
}

/** Admission control of one lane. `nowMs`: a monotonic clock, in milliseconds. */
export class AdmissionControl {
  readonly #nowMs: () => number;
  readonly #options: AdmissionOptions;
  readonly #spoolPermits: SpoolPermits;
  readonly #inLane = new Set<LaneRequest>();
  #overloadedSince = -Infinity;
  #shedAt = -Infinity;
  /** Maximum number of requests in the lane while it is overloaded. */
  #maxOverloaded: number;
  /** Mean processing time, in milliseconds; null until a file was processed. */
  #workMs: number | null = null;

  constructor({ nowMs }: { nowMs: () => number }, options: AdmissionOptions) {
    this.#nowMs = nowMs;
    this.#options = options;
    this.#spoolPermits = new SpoolPermits({ nowMs }, options.spool);
    this.#maxOverloaded = options.children;
  }

  /** Admits a request. Returns null when it is shed or there is no spool space. */
  acquire({ tenant, bytes, onRevoke }: AdmissionRequest): LaneAdmission | null {
    const now = this.#nowMs();
    const admissionClass = this.#admissionClassFor(tenant, now);
    if (admissionClass === null) return this.#shed(now);
    const one: LaneRequest = { tenant, admittedAtMs: now, isExtra: admissionClass === 'extra', isComplete: false };
    const revoke = (): void => {
      this.#inLane.delete(one);
      onRevoke();
    };
    const permit = this.#spoolPermits.acquire({ tenant, bytes, onRevoke: revoke });
    if (permit === null) return null;
    this.#inLane.add(one);
    return this.#admission(one, permit);
  }

  #admissionClassFor(tenant: string, now: number): 'regular' | 'extra' | null {
    const max = this.#maxAdmitted(now);
    if (this.#inLane.size < max) return 'regular';
    const counted = [...this.#inLane].filter((one) => one.isComplete || now - one.admittedAtMs < SLOW_BODY_MS);
    if (counted.length < max) return 'regular';
    return isBelowShare(counted, { tenant, max }) ? 'extra' : null;
  }

  #maxAdmitted(now: number): number {
    const { children, queue } = this.#options;
    const startSoon = this.#workMs === null ? queue : (children * LONGEST_WAIT_MS) / this.#workMs;
    const max = children + Math.min(queue, startSoon);
    return this.#isOverloaded(now) ? Math.min(max, Math.floor(this.#maxOverloaded)) : max;
  }

  #isOverloaded(now: number): boolean {
    return now - this.#overloadedSince < OVERLOADED_MS && now - this.#shedAt < QUIET_MS;
  }

  #shed(now: number): null {
    if (!this.#isOverloaded(now)) {
      this.#overloadedSince = now;
      this.#maxOverloaded = this.#options.children;
    }
    this.#shedAt = now;
    return null;
  }

  #admission(one: LaneRequest, permit: SpoolPermit): LaneAdmission {
    let startedAt = one.admittedAtMs;
    return {
      receive: (size) => permit.receive(size),
      complete: () => {
        one.isComplete = true;
        permit.complete();
      },
      started: (waitedMs) => {
        startedAt = this.#nowMs();
        this.#adjustBound(waitedMs);
      },
      ended: () => {
        this.#observeWork(this.#nowMs() - startedAt);
        this.#inLane.delete(one);
        permit.startSending();
      },
      sent: (bytes) => permit.sent(bytes),
      release: () => {
        this.#inLane.delete(one);
        permit.release();
      },
    };
  }

  #adjustBound(waitedMs: number): void {
    const { children, queue } = this.#options;
    if (this.#workMs === null) return;
    if (waitedMs > this.#workMs * LONG_WAIT) this.#maxOverloaded = Math.max(children, this.#maxOverloaded - 1);
    if (waitedMs < this.#workMs * NO_WAIT)
      this.#maxOverloaded = Math.min(children + queue, this.#maxOverloaded * GROWTH);
  }

  #observeWork(newestMs: number): void {
    const workMs = this.#workMs ?? newestMs;
    this.#workMs = Math.max(1, workMs + (newestMs - workMs) * WEIGHT);
  }
}

/**
 * Returns whether the tenant may exceed the bound: it has less than its share of the lane while another tenant has at
 * least two requests more. All tenants together may exceed the bound by as many requests as it allows.
 */
function isBelowShare(counted: readonly LaneRequest[], { tenant, max }: { tenant: string; max: number }): boolean {
  const held = new Map([[tenant, 0]]);
  for (const one of counted) held.set(one.tenant, (held.get(one.tenant) ?? 0) + 1);
  const own = held.get(tenant) ?? 0;
  const share = Math.max(1, Math.floor(max / held.size));
  const extra = counted.filter(({ isExtra }) => isExtra).length;
  return own < share && Math.max(...held.values()) >= own + 2 && extra < max;
}
