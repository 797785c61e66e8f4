/**
 * Permits to spool a request's body, bounded by number and by declared bytes. Pure: the clock is passed in.
 *
 * When no space is left, a new request revokes permits of bodies that are still being received: first the newest one of
 * the tenant with the largest share, while that share is larger than the one of the new request's tenant would be; then
 * the slowest one below the pace that is required under contention. A complete body keeps its permit until its request
 * ends.
 */
export interface SpoolLimits {
  readonly requests: number;
  readonly bytes: number;
}

export interface SpoolRequest {
  readonly tenant: string;
  /** Maximum number of bytes of the body. */
  readonly bytes: number;
  /** Called when another request revoked the permit. */
  readonly onRevoke: () => void;
}

export interface SpoolPermit {
  /** Counts bytes of the body. Returns false when there are more than the request declared. */
  receive(bytes: number): boolean;
  /** Marks the body as complete: its permit is not revoked any more. */
  complete(): void;
  /** Releases the space. Repeatable. */
  release(): void;
}

/** Age from which the pace of a body counts under contention, in milliseconds. */
export const PACE_GRACE_MS = 5000;
/** Pace that is required of a body while others find no space, in bytes per second. */
export const CONTENTION_BYTES_PER_SECOND = 64 * 1024;

interface Spooled extends SpoolRequest {
  readonly sinceMs: number;
  received: number;
  isComplete: boolean;
}

/** Permits within the limits. `nowMs`: a monotonic clock, in milliseconds. */
export class SpoolPermits {
  readonly #nowMs: () => number;
  readonly #limits: SpoolLimits;
  /** Bodies in the order of arrival. */
  readonly #spooled = new Set<Spooled>();
  #bytesTaken = 0;

  constructor({ nowMs }: { nowMs: () => number }, limits: SpoolLimits) {
    this.#nowMs = nowMs;
    this.#limits = limits;
  }

  /** Acquires a permit. Returns null when there is no space. */
  acquire(request: SpoolRequest): SpoolPermit | null {
    const victims = this.#findVictims(request);
    if (victims === null) return null;
    for (const victim of victims) {
      this.#remove(victim);
      victim.onRevoke();
    }
    const one: Spooled = { ...request, sinceMs: this.#nowMs(), received: 0, isComplete: false };
    this.#spooled.add(one);
    this.#bytesTaken += one.bytes;
    return {
      receive: (bytes) => {
        one.received += bytes;
        return one.received <= one.bytes;
      },
      complete: () => {
        one.isComplete = true;
      },
      release: () => this.#remove(one),
    };
  }

  /** Returns the bodies whose permits the request may revoke; null when that does not free enough space. */
  #findVictims(request: SpoolRequest): ReadonlySet<Spooled> | null {
    const victims = new Set<Spooled>();
    while (!this.#fits(request, victims)) {
      const left = [...this.#spooled].filter((one) => !victims.has(one));
      const victim = newestOfLargest(this.#limits, left, request) ?? slowest(left, this.#nowMs());
      if (victim === null) return null;
      victims.add(victim);
    }
    return victims;
  }

  #fits(request: SpoolRequest, without: ReadonlySet<Spooled>): boolean {
    const { requests, bytes } = this.#limits;
    let freed = 0;
    for (const one of without) freed += one.bytes;
    return this.#spooled.size - without.size < requests && this.#bytesTaken - freed + request.bytes <= bytes;
  }

  #remove(one: Spooled): void {
    if (this.#spooled.delete(one)) this.#bytesTaken -= one.bytes;
  }
}

/** Returns the newest body of the tenant with the largest share, when that is larger than the request's would be. */
function newestOfLargest(limits: SpoolLimits, spooled: readonly Spooled[], request: SpoolRequest): Spooled | null {
  const shares = new Map<string, number>();
  for (const one of [...spooled, request]) shares.set(one.tenant, (shares.get(one.tenant) ?? 0) + shareOf(limits, one));
  const share = ({ tenant }: SpoolRequest): number => shares.get(tenant) ?? 0;
  let largest: SpoolRequest = request;
  for (const one of spooled) if (!one.isComplete && share(one) > share(largest)) largest = one;
  if (largest.tenant === request.tenant) return null;
  return spooled.findLast(({ tenant, isComplete }) => tenant === largest.tenant && !isComplete) ?? null;
}

/** Returns the share of the space that a request takes, by number or by bytes, whichever is more. */
function shareOf(limits: SpoolLimits, { bytes }: SpoolRequest): number {
  return Math.max(1 / limits.requests, bytes / limits.bytes);
}

/** Returns the slowest body below the pace that is required under contention. */
function slowest(spooled: readonly Spooled[], now: number): Spooled | null {
  let slowestBody: Spooled | null = null;
  let slowestPace = CONTENTION_BYTES_PER_SECOND;
  for (const one of spooled) {
    const ageMs = now - one.sinceMs;
    const pace = (one.received * 1000) / ageMs;
    if (one.isComplete || ageMs < PACE_GRACE_MS || pace >= slowestPace) continue;
    slowestBody = one;
    slowestPace = pace;
  }
  return slowestBody;
}
