/**
 * Permits to run an engine process, shared fairly between tenants. Pure: the clock is passed in, and the caller calls
 * `offerExtra` when the oldest request may have waited long enough.
 *
 *   request ─→ granted (a permit is free, or an extra one after a wait)
 *       ╲ ──→ queued ─→ granted in fair order
 *        ╲         ╲──→ refused: the queue is full and its tenant has the most requests in it
 *         ╲ ──→ refused: the same, for the new request
 */
import { makeFairShare } from '#crds/process/fair-share.ts';

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
  /** Called once when the request has its permit, unless it was refused or canceled before. */
  readonly onGrant: () => void;
  /** Called when the queue is full. */
  readonly onRefuse: () => void;
}

export interface EnginePermits {
  /** Acquires a permit now or later. Returns a function that cancels a request that still waits. */
  request(request: PermitRequest): () => void;
  /** Releases a granted permit. `usedSeconds`: time that counts in the tenant's share. */
  release(tenant: string, usedSeconds: number): void;
  /** Grants extra permits to tenants that have waited for `EXTRA_AFTER_MS`. */
  offerExtra(): void;
  readonly running: () => number;
  readonly waiting: () => number;
}

/** Wait after which a request may get an extra permit, in milliseconds: short files end sooner. */
export const EXTRA_AFTER_MS = 400;
/** Recent use above which a tenant gets no extra permit, in seconds: its next file is probably long too. */
const EXTRA_MAX_USED_SECONDS = 20;

interface Waiting extends PermitRequest {
  readonly sinceMs: number;
}

export function makeEnginePermits(deps: { nowMs: () => number }, options: EnginePermitsOptions): EnginePermits {
  const share = makeFairShare(deps);
  /** In the order of arrival. */
  const waiting: Waiting[] = [];
  let running = 0;

  const grant = ({ tenant, onGrant }: PermitRequest): void => {
    running += 1;
    share.acquire(tenant);
    onGrant();
  };
  /** Grants a permit to the first candidate of the tenant that is next. */
  const grantNext = (candidates: readonly Waiting[]): boolean => {
    const tenant = share.next(candidates.map((one) => one.tenant));
    const next = candidates.find((one) => one.tenant === tenant);
    if (next === undefined) return false;
    waiting.splice(waiting.indexOf(next), 1);
    grant(next);
    return true;
  };
  const mayHaveExtra = ({ tenant, sinceMs }: Waiting): boolean =>
    deps.nowMs() - sinceMs >= EXTRA_AFTER_MS &&
    share.held(tenant) === 0 &&
    share.usedSeconds(tenant) <= EXTRA_MAX_USED_SECONDS;
  const offerExtra = (): void => {
    for (let left = options.permits + options.extra - running; left > 0; left -= 1)
      if (!grantNext(waiting.filter(mayHaveExtra))) return;
  };
  const dropNewestOf = (tenant: string): void => {
    const at = waiting.findLastIndex((one) => one.tenant === tenant);
    waiting.splice(at, 1)[0]?.onRefuse();
  };
  return {
    request: (request) => {
      if (running < options.permits) {
        grant(request);
        return () => undefined;
      }
      const entry = { ...request, sinceMs: deps.nowMs() };
      waiting.push(entry);
      if (waiting.length > options.queue) dropNewestOf(longestQueue(waiting, request.tenant));
      return () => {
        const at = waiting.indexOf(entry);
        if (at >= 0) waiting.splice(at, 1);
      };
    },
    release: (tenant, usedSeconds) => {
      running -= 1;
      share.release(tenant, usedSeconds);
      while (running < options.permits && grantNext(waiting));
      offerExtra();
    },
    offerExtra,
    running: () => running,
    waiting: () => waiting.length,
  };
}

/** Returns the tenant with the most requests in the queue; the newcomer when no tenant has more. */
function longestQueue(waiting: readonly Waiting[], newcomer: string): string {
  const counts = new Map<string, number>();
  for (const { tenant } of waiting) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  let longest = newcomer;
  for (const [tenant, count] of counts) if (count > (counts.get(longest) ?? 0)) longest = tenant;
  return longest;
}
