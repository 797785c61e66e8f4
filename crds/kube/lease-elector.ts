/**
 * One of several processes leads: who holds the Lease and renews it. Who may hold it is decided by when
 * this process saw the Lease change, on its own monotonic clock, never by the times written in it.
 *
 *   waiting ──→ leading (renews every 2 s) ──→ lost: could not renew for 10 s; the process has to end
 *      ↑ every 2 s                          ╲─→ released: the next one leads at once
 */
import { isRefusal } from '#crds/kube/kube-error.ts';
import type { KubeClient } from '#crds/kube/kube-client.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import type { Time } from '#crds/kube/time.ts';
import type { Log } from '#crds/shared/log.ts';

export interface Elector {
  /** True while nobody else can lead: less than the Lease's length since its last renewal was sent. */
  isLeading(): boolean;
  /** Identity of the holder as last seen; null when nobody leads. */
  holder(): string | null;
  /** Since the last successful look at the Lease. */
  silentMs(): number;
  /** Gives the Lease back when this process holds it. */
  release(): Promise<void>;
}

export interface ElectorDeps {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'replace'>;
  readonly time: Time;
  readonly log: Log;
}

export interface ElectorOptions {
  /** Collection: /apis/coordination.k8s.io/v1/namespaces/<namespace>/leases. */
  readonly path: string;
  readonly name: string;
  /** Differs between any two processes that ever run. */
  readonly identity: string;
  readonly onLeading: () => void;
  /** Another may lead from now on. */
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

export function startElector(deps: ElectorDeps, options: ElectorOptions): Elector {
  const { client, time, log } = deps;
  const ended = new AbortController();
  const path = `${options.path}/${options.name}`;
  let seen: { readonly version: string; readonly at: number; readonly spec: LeaseSpec } | null = null;
  let leading = false;
  let renewedAt = -Infinity;
  let lookedAt = time.monotonic();

  const note = (lease: KubeObject, at: number): LeaseSpec => {
    lookedAt = time.monotonic();
    const spec = (lease['spec'] ?? {}) as LeaseSpec;
    if (seen?.version !== lease.metadata.resourceVersion) seen = { version: lease.metadata.resourceVersion, at, spec };
    return spec;
  };
  const isFree = ({ holderIdentity, leaseDurationSeconds = LEASE_SECONDS }: LeaseSpec): boolean =>
    !holderIdentity || time.monotonic() - (seen?.at ?? Infinity) > leaseDurationSeconds * 1000;

  /** True when this process holds the Lease now. */
  const take = async (): Promise<boolean> => {
    const sentAt = time.monotonic();
    const lease = await client.get(path).catch((error: unknown) => {
      if (isRefusal(error, 404)) return null;
      throw error;
    });
    if (lease === null) {
      note(await client.create(options.path, firstLease(deps, options)), time.monotonic());
      renewedAt = sentAt;
      return true;
    }
    const spec = note(lease, time.monotonic());
    if (spec.holderIdentity !== options.identity && !isFree(spec)) return false;
    const next = { ...spec, ...holding(deps, options, spec) };
    note(await client.replace(path, { ...lease, spec: next }), time.monotonic());
    renewedAt = sentAt;
    return true;
  };
  const turn = async (): Promise<void> => {
    const holds = await take().catch((error: unknown) => {
      if (!isRefusal(error, 409)) log.warn({ err: error, lease: options.name }, 'lease not reached');
      return false;
    });
    if (holds && !leading) {
      leading = true;
      log.info({ lease: options.name, identity: options.identity }, 'leading');
      options.onLeading();
    }
    if (leading && !holds && time.monotonic() - renewedAt > RENEW_WITHIN_MS) lose();
  };
  const lose = (): void => {
    leading = false;
    ended.abort();
    options.onLost(`the lease ${options.name} could not be renewed for ${RENEW_WITHIN_MS / 1000} s`);
  };
  const run = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await turn();
      await time.wait(RETRY_MS * (leading ? 1 : 1 + 0.2 * time.random()), ended.signal);
    }
  };
  const running = run();

  return {
    isLeading: () => leading && time.monotonic() - renewedAt < LEASE_SECONDS * 1000,
    holder: () => (seen === null || isFree(seen.spec) ? null : (seen.spec.holderIdentity ?? null)),
    silentMs: () => time.monotonic() - lookedAt,
    async release() {
      ended.abort();
      await running;
      if (!leading) return;
      leading = false;
      const lease = await client.get(path);
      const spec = (lease['spec'] ?? {}) as LeaseSpec;
      if (spec.holderIdentity !== options.identity) return;
      await client.replace(path, { ...lease, spec: { ...spec, holderIdentity: '', leaseDurationSeconds: 1 } });
    },
  };
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

/** A Lease's times have six digits; the API server refuses three. */
function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
