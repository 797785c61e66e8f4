/**
 * Permits to run an engine process, shared fairly between tenants. Pure: the clock is passed in, and the caller calls
 * `offerExtra` when the oldest request may have waited long enough.
 *
 *   acquire ─→ granted (a permit is free, or an extra one after a wait)
 *       ╲ ──→ queued ─→ granted in fair order
 *        ╲         ╲──→ refused: the queue is full and its tenant has the most requests in it
 *         ╲ ──→ refused: the same, for the new request
 */
import { makeFairShare, type FairShare } from '#crds/process/fair-share.ts';

export interface EnginePermitsOptions {
  /** Maximum number of running files. */
  readonly permits: number;
  /** Maximum number of further running files, of tenants that have none running. */
  readonly extra: number;
  /** Maximum number of waiting requests. */
  readonly queue: number;
}

export interface PermitRequest {
  readonly tenant: string;
  /** Called once when the permit is granted, unless the request was refused or canceled before. */
  readonly onGrant: () => void;
  /** Called when the queue is full. */
  readonly onRefuse: () => void;
}

/** Permit of one request, which is granted now or later. */
export interface EnginePermit {
  /** Releases the permit; while it is not granted, cancels the request. `usedSeconds` count in the share. Repeatable. */
  release(usedSeconds?: number): void;
}

/** Wait after which a request may get an extra permit, in milliseconds: short files end sooner. */
export const EXTRA_AFTER_MS = 400;
/** Recent use above which a tenant gets no extra permit, in seconds: its next file is probably long too. */
const EXTRA_MAX_USED_SECONDS = 20;

interface WaitingRequest extends PermitRequest {
  readonly sinceMs: number;
}

/** Permits within the limits. `nowMs`: a monotonic clock, in milliseconds. */
export class EnginePermits {
  readonly #nowMs: () => number;
  readonly #options: EnginePermitsOptions;
  readonly #share: FairShare;
  /** In the order of arrival. */
  readonly #waiting: WaitingRequest[] = [];
  readonly #granted = new Set<WaitingRequest>();

  constructor(deps: { nowMs: () => number }, options: EnginePermitsOptions) {
    this.#nowMs = deps.nowMs;
    this.#options = options;
    this.#share = makeFairShare(deps);
  }

  /** Acquires a permit now or later. */
  acquire(request: PermitRequest): EnginePermit {
    const { permits, queue } = this.#options;
    const waiting: WaitingRequest = { ...request, sinceMs: this.#nowMs() };
    if (this.running() < permits) this.#grant(waiting);
    else this.#waiting.push(waiting);
    if (this.waiting() > queue) this.#dropNewestOf(longestQueue(this.#waiting, request.tenant));
    return { release: (usedSeconds = 0) => this.#release(waiting, usedSeconds) };
  }

  /** Grants extra permits to tenants that have waited for `EXTRA_AFTER_MS`. */
  offerExtra(): void {
    const { permits, extra } = this.#options;
    while (this.running() < permits + extra && this.#grantNext(this.#waiting.filter((one) => this.#mayHaveExtra(one))));
  }

  /** Returns the number of granted permits. */
  running(): number {
    return this.#granted.size;
  }

  /** Returns the number of requests in the queue. */
  waiting(): number {
    return this.#waiting.length;
  }

  #grant(request: WaitingRequest): void {
    this.#granted.add(request);
    this.#share.acquire(request.tenant);
    request.onGrant();
  }

  #release(request: WaitingRequest, usedSeconds: number): void {
    this.#dequeue(request);
    if (!this.#granted.delete(request)) return;
    this.#share.release(request.tenant, usedSeconds);
    while (this.running() < this.#options.permits && this.#grantNext(this.#waiting));
    this.offerExtra();
  }

  /** Grants a permit to the first candidate of the tenant that is next. */
  #grantNext(candidates: readonly WaitingRequest[]): boolean {
    const tenant = this.#share.next(candidates.map((one) => one.tenant));
    const next = candidates.find((one) => one.tenant === tenant);
    if (next === undefined) return false;
    this.#dequeue(next);
    this.#grant(next);
    return true;
  }

  #mayHaveExtra({ tenant, sinceMs }: WaitingRequest): boolean {
    return (
      this.#nowMs() - sinceMs >= EXTRA_AFTER_MS &&
      this.#share.held(tenant) === 0 &&
      this.#share.usedSeconds(tenant) <= EXTRA_MAX_USED_SECONDS
    );
  }

  #dropNewestOf(tenant: string): void {
    const newest = this.#waiting.findLast((one) => one.tenant === tenant);
    if (newest === undefined) return;
    this.#dequeue(newest);
    newest.onRefuse();
  }

  #dequeue(request: WaitingRequest): void {
    const at = this.#waiting.indexOf(request);
    if (at >= 0) this.#waiting.splice(at, 1);
  }
}

/** Returns the tenant with the most requests in the queue; the newcomer when no tenant has more. */
function longestQueue(waiting: readonly WaitingRequest[], newcomer: string): string {
  const counts = new Map<string, number>();
  for (const { tenant } of waiting) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  let longest = newcomer;
  for (const [tenant, count] of counts) if (count > (counts.get(longest) ?? 0)) longest = tenant;
  return longest;
}
