/**
 * Leader election: the process that holds and renews the Lease leads. A Lease expires by the time at which this process
 * observed its last change, on its monotonic clock, never by the times in the Lease.
 *
 *   waiting ──→ leading (renews every 2 s) ──→ lost: no renewal for 10 s; the process must exit
 *      ↑ every 2 s                          ╲─→ released: the next process leads at once
 */
import { isRefusal } from '#crds/kube/kube-error.ts';
import type { CallLimits, KubeClient } from '#crds/kube/kube-client.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import type { Time } from '#crds/kube/time.ts';
import type { Log } from '#crds/process/log.ts';

export interface Elector {
  /** Returns true while no other process can lead: the last renewal was sent less than the Lease's duration ago. */
  isLeading(): boolean;
  /** Returns the identity of the last known holder; null when no process leads. */
  holder(): string | null;
  /** Returns the time since the last successful read of the Lease, in milliseconds. */
  silentMs(): number;
  /** Ends the election and releases the Lease when this process holds it. A failure is logged: the Lease expires. */
  release(): Promise<void>;
}

export interface ElectorDeps {
  /** Client with `LEASE_CALLS`. */
  readonly client: Pick<KubeClient, 'get' | 'create' | 'replace'>;
  readonly time: Time;
  readonly log: Log;
}

export interface ElectorOptions {
  /** Path of the collection: /apis/coordination.k8s.io/v1/namespaces/<namespace>/leases. */
  readonly path: string;
  readonly name: string;
  /** Unique among all processes that ever run. */
  readonly identity: string;
  readonly onLeading: () => void;
  /** Called when another process may lead. */
  readonly onLost: (why: string) => void;
}

interface LeaseSpec {
  readonly holderIdentity?: string | null;
  readonly leaseDurationSeconds?: number;
  readonly leaseTransitions?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
}

const LEASE_SECONDS = 15;
const RENEW_WITHIN_MS = 10_000;
const RETRY_MS = 2000;
/** Limits that leave time to renew the Lease after a request without a response. Each iteration is a retry. */
export const LEASE_CALLS: CallLimits = { timeoutMs: 4000, maxAttempts: 1 };

/** Starts to poll the Lease. */
export function startElector(deps: ElectorDeps, options: ElectorOptions): Elector {
  const { client, time, log } = deps;
  const ended = new AbortController();
  const path = `${options.path}/${options.name}`;
  let seen: { readonly version: string; readonly at: number; readonly spec: LeaseSpec } | null = null;
  let leading = false;
  let renewedAt = -Infinity;
  let readAt = time.monotonic();

  const observe = (lease: KubeObject, at: number): LeaseSpec => {
    readAt = time.monotonic();
    const spec = (lease['spec'] ?? {}) as LeaseSpec;
    if (seen?.version !== lease.metadata.resourceVersion) seen = { version: lease.metadata.resourceVersion, at, spec };
    return spec;
  };
  const isFree = ({ holderIdentity, leaseDurationSeconds = LEASE_SECONDS }: LeaseSpec): boolean =>
    !holderIdentity || time.monotonic() - (seen?.at ?? Infinity) > leaseDurationSeconds * 1000;

  /** Acquires or renews the Lease. Returns true when this process holds it. */
  const acquire = async (): Promise<boolean> => {
    const sentAt = time.monotonic();
    const lease = await client.get(path).catch((error: unknown) => {
      if (isRefusal(error, 404)) return null;
      throw error;
    });
    if (lease === null) {
      observe(await client.create(options.path, firstLease(deps, options)), time.monotonic());
      renewedAt = sentAt;
      return true;
    }
    const spec = observe(lease, time.monotonic());
    if (spec.holderIdentity !== options.identity && !isFree(spec)) return false;
    const next = { ...spec, ...holding(deps, options, spec) };
    observe(await client.replace(path, { ...lease, spec: next }), time.monotonic());
    renewedAt = sentAt;
    return true;
  };
  const iterate = async (): Promise<void> => {
    const holds = await acquire().catch((error: unknown) => {
      if (!isRefusal(error, 409)) log.warn({ err: error, lease: options.name }, 'lease request failed');
      return false;
    });
    if (!holds || leading || ended.signal.aborted) return;
    leading = true;
    log.info({ lease: options.name, identity: options.identity }, 'leading');
    options.onLeading();
    void loseWithoutRenewal();
  };
  /** Ends the leadership by a timer, because a request may be in flight at the deadline. */
  const loseWithoutRenewal = async (): Promise<void> => {
    for (;;) {
      const left = renewedAt + RENEW_WITHIN_MS - time.monotonic();
      if (left <= 0) break;
      await time.wait(left, ended.signal);
      if (ended.signal.aborted) return;
    }
    leading = false;
    ended.abort();
    options.onLost(`the lease ${options.name} could not be renewed for ${RENEW_WITHIN_MS / 1000} s`);
  };
  const run = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await iterate();
      await time.wait(RETRY_MS * (leading ? 1 : 1 + 0.2 * time.random()), ended.signal);
    }
  };
  const running = run();

  return {
    isLeading: () => leading && time.monotonic() - renewedAt < LEASE_SECONDS * 1000,
    holder: () => (seen === null || isFree(seen.spec) ? null : (seen.spec.holderIdentity ?? null)),
    silentMs: () => time.monotonic() - readAt,
    async release() {
      ended.abort();
      await running;
      leading = false;
      // A request in flight may have acquired the Lease after the abort.
      if (renewedAt === -Infinity) return;
      await free({ client, path, identity: options.identity }).catch((error: unknown) =>
        log.warn({ err: error, lease: options.name }, 'lease not released'),
      );
    },
  };
}

/** Releases a Lease, unless another process holds it. */
async function free(held: { client: ElectorDeps['client']; path: string; identity: string }): Promise<void> {
  const lease = await held.client.get(held.path);
  const spec = (lease['spec'] ?? {}) as LeaseSpec;
  if (spec.holderIdentity !== held.identity) return;
  await held.client.replace(held.path, { ...lease, spec: { ...spec, holderIdentity: '', leaseDurationSeconds: 1 } });
}

function firstLease(deps: ElectorDeps, options: ElectorOptions): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: options.name },
    spec: holding(deps, options, {}),
  };
}

function holding({ time }: ElectorDeps, { identity }: ElectorOptions, before: LeaseSpec): LeaseSpec {
  const now = microTime(time.now());
  const mine = before.holderIdentity === identity;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: LEASE_SECONDS,
    renewTime: now,
    acquireTime: mine ? (before.acquireTime ?? now) : now,
    leaseTransitions: (before.leaseTransitions ?? 0) + (mine || before.holderIdentity === undefined ? 0 : 1),
  };
}

/** Formats a time of a Lease: the API server requires six decimal digits. */
function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
