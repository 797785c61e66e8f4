/**
 * A process that works in a cluster while it leads, and says at any time what it lacks.
 *
 *   checking ──→ waiting for the Lease ──→ leading ──→ (Lease lost) the process ends, another one leads
 *      ↑ every 10 s while something is missing
 *
 * Its requests that write are refused as soon as another process may lead. Free of any domain.
 */
import { missingAccess, type AccessNeeds } from '#crds/kube/access-check.ts';
import type { Connection } from '#crds/kube/connection.ts';
import { watchEventLoopLag } from '#crds/kube/event-loop-lag.ts';
import { makeKubeClient, type KubeClient } from '#crds/kube/kube-client.ts';
import type { KubeMetrics } from '#crds/kube/kube-metrics.ts';
import { startElector, type Elector } from '#crds/kube/lease-elector.ts';
import { makeRateLimit } from '#crds/kube/rate-limit.ts';
import { startReflector, type Reflector, type ReflectorOptions } from '#crds/kube/reflector.ts';
import type { Time } from '#crds/kube/time.ts';
import type { Log } from '#crds/shared/log.ts';

export interface Leadership {
  /** Writes only while this process leads. */
  readonly client: KubeClient;
  /** Aborts when the process stops leading. */
  readonly signal: AbortSignal;
  readonly reflect: (options: Omit<ReflectorOptions, 'firstList'>) => Reflector;
}

export interface LeaderProcess {
  /** What is missing, in a sentence with how to fix it; null when it works or stands by. */
  readonly notReady: () => string | null;
  /** Why it hangs; null while it does not. */
  readonly notAlive: () => string | null;
  isLeading(): boolean;
  /** Identity of the process that leads; null: none. */
  holder(): string | null;
  /** Stops the work, then gives the Lease back. */
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
  readonly lease: string;
  readonly identity: string;
  readonly rate: { readonly perSecond: number; readonly burst: number };
  /** Begins the work; gives how to stop it. Called once at most. */
  readonly work: (leadership: Leadership) => { stop: () => Promise<void> };
  /** Another process may lead from now on: this one has to end. */
  readonly onLost: (why: string) => void;
}

const CHECK_MS = 10_000;
const SILENT_MS = 5 * 60_000;
const LAG_MS = 5000;

export function startLeaderProcess(deps: LeaderProcessDeps, options: LeaderProcessOptions): LeaderProcess {
  const { time, log, metrics } = deps;
  const stopping = new AbortController();
  const lag = watchEventLoopLag();
  const reflectors: Reflector[] = [];
  let missing: readonly string[] = ['The rights in the cluster are being checked.'];
  let elector: Elector | null = null;
  let work: { stop: () => Promise<void> } | null = null;

  const plain = makeKubeClient({ ...deps, rateLimit: makeRateLimit(time, options.rate) });
  const fenced = makeKubeClient({
    ...deps,
    rateLimit: makeRateLimit(time, options.rate),
    beforeWrite() {
      if (elector?.isLeading() !== true) throw new Error('This process leads no longer and writes nothing.');
    },
  });
  const lead = (): void => {
    const reflect = (which: Omit<ReflectorOptions, 'firstList'>): Reflector => {
      // What is missing is acted on: the first list is as new as the leadership.
      const whole = { ...which, firstList: 'consistent' } as const;
      const reflector = startReflector({ client: fenced, time, log, metrics }, whole, stopping.signal);
      reflectors.push(reflector);
      return reflector;
    };
    work = options.work({ client: fenced, signal: stopping.signal, reflect });
  };
  const begin = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      missing = await missingAccess(plain, options.needs);
      if (missing.length === 0) break;
      log.error({ missing }, 'not ready for the cluster');
      await time.wait(CHECK_MS, stopping.signal);
    }
    if (stopping.signal.aborted) return;
    elector = startElector(
      { client: plain, time, log },
      {
        path: `/apis/coordination.k8s.io/v1/namespaces/${options.needs.namespace}/leases`,
        name: options.lease,
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
      return waiting ? 'The API server has not listed everything yet; the log says why.' : null;
    },
    notAlive() {
      if (lag.worstMs() > LAG_MS) return `The event loop is ${Math.round(lag.worstMs() / 1000)} s behind.`;
      const silent = Math.max(elector?.silentMs() ?? 0, ...reflectors.map((reflector) => reflector.silentMs()));
      return silent > SILENT_MS ? `The API server has said nothing for ${Math.round(silent / 1000)} s.` : null;
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
