/**
 * Process that works in a cluster while it leads, with its readiness and liveness.
 *
 *   checking ──→ waiting for the Lease ──→ leading ──→ (Lease lost) the process ends, another one leads
 *      ↑ every 10 s while a precondition is missing
 *
 * Its writes are refused as soon as another process may lead. Independent of any domain.
 */
import { missingAccess, type AccessNeeds } from '#crds/kube/access-check.ts';
import type { Connection } from '#crds/kube/connection.ts';
import { watchEventLoopLag } from '#crds/kube/event-loop-lag.ts';
import { makeKubeClient, type KubeClient } from '#crds/kube/kube-client.ts';
import type { KubeMetrics } from '#crds/kube/kube-metrics.ts';
import { LEASE_CALLS, startElector, type Elector } from '#crds/kube/lease-elector.ts';
import { makeRateLimit } from '#crds/kube/rate-limit.ts';
import { startReflector, type Reflector, type ReflectorOptions } from '#crds/kube/reflector.ts';
import type { Time } from '#crds/kube/time.ts';
import type { Log } from '#crds/process/log.ts';

export interface Leadership {
  /** Client that writes only while this process leads. */
  readonly client: KubeClient;
  /** Aborts when the process stops leading. */
  readonly signal: AbortSignal;
  readonly reflect: (options: Omit<ReflectorOptions, 'firstList'>) => Reflector;
}

export interface LeaderProcess {
  /** Returns a sentence with what is missing and how to fix it; null when the process works or is on standby. */
  readonly notReady: () => string | null;
  /** Returns why the process hangs; null while it does not. */
  readonly notAlive: () => string | null;
  isLeading(): boolean;
  /** Returns the identity of the leader; null: none. */
  holder(): string | null;
  /** Stops the work, then releases the Lease. */
  stop(): Promise<void>;
}

export interface LeaderProcessDeps {
  readonly connection: Connection;
  readonly time: Time;
  readonly log: Log;
  readonly metrics: KubeMetrics;
}

export interface LeaderProcessOptions {
  readonly needs: AccessNeeds;
  readonly lease: { readonly namespace: string; readonly name: string };
  readonly identity: string;
  readonly rate: { readonly perSecond: number; readonly burst: number };
  /** Starts the work and returns the function that stops it. Called once at most. */
  readonly work: (leadership: Leadership) => { stop: () => Promise<void> };
  /** Called when another process may lead: this process must exit. */
  readonly onLost: (why: string) => void;
}

const CHECK_INTERVAL_MS = 10_000;
/** Maximum time without a response of the API server while the process is alive, in milliseconds. */
const MAX_SILENCE_MS = 5 * 60_000;
const MAX_LAG_MS = 5000;

/** Starts to check the preconditions, then to wait for the Lease. */
export function startLeaderProcess(deps: LeaderProcessDeps, options: LeaderProcessOptions): LeaderProcess {
  const { time, log, metrics } = deps;
  const stopping = new AbortController();
  const lag = watchEventLoopLag();
  const reflectors: Reflector[] = [];
  let missing: readonly string[] = ['The permissions in the cluster are being checked.'];
  let elector: Elector | null = null;
  let work: { stop: () => Promise<void> } | null = null;

  const plain = makeKubeClient({ ...deps, rateLimit: makeRateLimit(time, options.rate) });
  const leaseClient = makeKubeClient({ ...deps, rateLimit: makeRateLimit(time, options.rate), limits: LEASE_CALLS });
  const fenced = makeKubeClient({
    ...deps,
    rateLimit: makeRateLimit(time, options.rate),
    beforeWrite() {
      if (elector?.isLeading() !== true) throw new Error('The write is refused: this process is no longer the leader.');
    },
  });
  const lead = (): void => {
    const reflect = (which: Omit<ReflectorOptions, 'firstList'>): Reflector => {
      // The work acts on missing objects, so the first list must not be older than the leadership.
      const whole = { ...which, firstList: 'consistent' } as const;
      const reflector = startReflector({ client: fenced, time, log, metrics }, whole, stopping.signal);
      reflectors.push(reflector);
      return reflector;
    };
    work = options.work({ client: fenced, signal: stopping.signal, reflect });
  };
  const begin = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      missing = await missingAccess(plain, { ...options.needs, leases: options.lease.namespace });
      if (missing.length === 0) break;
      log.error({ missing }, 'preconditions not met');
      await time.wait(CHECK_INTERVAL_MS, stopping.signal);
    }
    if (stopping.signal.aborted) return;
    elector = startElector(
      { client: leaseClient, time, log },
      {
        path: `/apis/coordination.k8s.io/v1/namespaces/${options.lease.namespace}/leases`,
        name: options.lease.name,
        identity: options.identity,
        onLeading: lead,
        onLost: options.onLost,
      },
    );
  };
  const beginning = begin();
  metrics.observeLeader(() => elector?.isLeading() ?? false);

  return {
    notReady() {
      if (missing.length > 0) return missing.join(' ');
      const waiting = reflectors.some((reflector) => !reflector.hasSynced());
      return waiting ? 'The first lists of the API server are not complete. See the log for the reason.' : null;
    },
    notAlive() {
      if (lag.worstMs() > MAX_LAG_MS) return `The event loop is ${Math.round(lag.worstMs() / 1000)} s behind.`;
      const silent = Math.max(elector?.silentMs() ?? 0, ...reflectors.map((reflector) => reflector.silentMs()));
      return silent > MAX_SILENCE_MS ? `The API server has not responded for ${Math.round(silent / 1000)} s.` : null;
    },
    isLeading: () => elector?.isLeading() ?? false,
    holder: () => elector?.holder() ?? null,
    async stop() {
      await work?.stop();
      stopping.abort();
      lag.stop();
      await beginning;
      await elector?.release();
    },
  };
}
