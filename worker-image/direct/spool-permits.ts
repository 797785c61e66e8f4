/**
 * Permits to spool the files of a request, bounded by number and by the declared bytes of its body. Pure: the clock is
 * passed in.
 *
 *   receiving ──the body is complete──▶ processing ──the file is processed──▶ sending
 *
 * When no space is left, a new request revokes permits: first the newest body that is still being received of the tenant
 * with the largest share, while that share is larger than the one of the new request's tenant would be; then the body or
 * result that is furthest behind the pace that is required under contention. A file that waits or is
 * processed keeps its permit.
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
  /** Marks the body as complete: its permit is not revoked while the file waits and is processed. */
  complete(): void;
  /** Marks the file as processed: its result is being sent. */
  startSending(): void;
  /** Counts bytes of the result. */
  sent(bytes: number): void;
  /** Releases the space. Repeatable. */
  release(): void;
}

/** Time that a transfer may be ahead of the pace, at its start or after a burst, in milliseconds. A burst may fill buffers only. */
export const PACE_GRACE_MS = 5000;
/** Pace that is required of a body or a result while others find no space, in bytes per second. */
export const CONTENTION_BYTES_PER_SECOND = 64 * 1024;

interface Spooled extends SpoolRequest {
  phase: 'receiving' | 'processing' | 'sending';
  received: number;
  /** Time at which the transfer falls behind the pace unless further bytes follow. */
  behindAtMs: number;
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
    const one: Spooled = { ...request, phase: 'receiving', received: 0, behindAtMs: this.#nowMs() + PACE_GRACE_MS };
    this.#spooled.add(one);
    this.#bytesTaken += one.bytes;
    return {
      receive: (bytes) => {
        this.#transferred(one, bytes);
        one.received += bytes;
        return one.received <= one.bytes;
      },
      complete: () => {
        one.phase = 'processing';
      },
      startSending: () => {
        one.phase = 'sending';
        one.behindAtMs = this.#nowMs() + PACE_GRACE_MS;
      },
      sent: (bytes) => this.#transferred(one, bytes),
      release: () => this.#remove(one),
    };
  }

  #transferred(one: Spooled, bytes: number): void {
    const paidMs = (bytes * 1000) / CONTENTION_BYTES_PER_SECOND;
    one.behindAtMs = Math.min(one.behindAtMs + paidMs, this.#nowMs() + PACE_GRACE_MS);
  }

  /** Returns the requests whose permits the new one may revoke; null when that does not free enough space. */
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

/** Returns the newest body being received of the tenant with the largest share, when that is larger than the request's would be. */
function newestOfLargest(limits: SpoolLimits, spooled: readonly Spooled[], request: SpoolRequest): Spooled | null {
  const shares = new Map<string, number>();
  for (const one of [...spooled, request]) shares.set(one.tenant, (shares.get(one.tenant) ?? 0) + shareOf(limits, one));
  const share = ({ tenant }: SpoolRequest): number => shares.get(tenant) ?? 0;
  let largest: SpoolRequest = request;
  const received = spooled.filter(({ phase }) => phase === 'receiving');
  for (const one of received) if (share(one) > share(largest)) largest = one;
  if (largest.tenant === request.tenant) return null;
  return received.findLast(({ tenant }) => tenant === largest.tenant) ?? null;
}

/** Returns the share of the space that a request takes, by number or by bytes, whichever is more. */
function shareOf(limits: SpoolLimits, { bytes }: SpoolRequest): number {
  return Math.max(1 / limits.requests, bytes / limits.bytes);
}

/** Returns the transfer that is furthest behind the pace that is required under contention. */
function slowest(spooled: readonly Spooled[], now: number): Spooled | null {
  const behind = spooled.filter(({ phase, behindAtMs }) => phase !== 'processing' && behindAtMs <= now);
  return behind.reduce<Spooled | null>(
    (found, one) => (found === null || one.behindAtMs < found.behindAtMs ? one : found),
    null,
  );
}
