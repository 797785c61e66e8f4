/**
 * HTTP server of the workers' port (paths: `crds/contract/worker-port.ts`). Its main request is a heartbeat: POST
 * `HeartbeatBody` with the token of the attempt. Times and percentages are kept in memory, per job, for the newest attempt
 * that reported.
 *
 *   204 recorded · 401 wrong token · 410 the attempt is not current: the worker stops
 *
 * At `/transfer` the same token obtains signed URLs (`crds/contract/transfer-urls.ts`), from any controller. At `/outcome`
 * a worker reports its outcome before its pod has ended. At `/standby` a standby requests its run (`standbys.ts`).
 *
 * A token allows the heartbeats and transfers of its attempt only. Callbacks are rate-limited per job, so a worker that sends too
 * many heartbeats does not load the controller.
 *
 * Of several controllers, the leader handles all but transfers, and the others forward to it. 503: there is no leader.
 */
import { createServer, type IncomingMessage } from 'node:http';
import {
  attemptEndpoint,
  portListener,
  readJson,
  replyWith,
  type PortEndpoint,
  type PortReply,
} from '#crds/contract/attempt-request.ts';
import type { MediaJobClient } from '#crds/media-jobs/media-job-client.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import {
  heartbeatBodySchema,
  outcomeReportSchema,
  standbyPollSchema,
  type AttemptId,
  type HeartbeatBody,
  type OutcomeReport,
  type RunOutcome,
} from '#crds/contract/run-spec.ts';
import { TRANSFER_PATH, transferRequestSchema, type GrantTransfer } from '#crds/contract/transfer-urls.ts';
import type { Clock } from '#crds/process/clock.ts';
import type { Log } from '#crds/process/log.ts';
import { closeServer, listen, portOf, type ListenAddress } from '#crds/process/ops-server.ts';
import { socketUrl } from '#crds/process/start-request.ts';
import { Watchers } from '#crds/process/watchers.ts';
import { HEARTBEAT_PATH, OUTCOME_PATH, STANDBY_PATH } from '#crds/contract/worker-port.ts';
import { forwardToLeader, isForwarded } from '#controller/forward-to-leader.ts';
import { recordHeartbeat, type Heartbeat, type RecordedHeartbeat } from '#controller/heartbeat-records.ts';
import { limitConnections } from '#controller/limit-connections.ts';
import { isCurrent, OutcomeReports } from '#controller/outcome-reports.ts';
import { POLL_MS } from '#controller/standby-polls.ts';
import type { PollReply } from '#controller/standbys.ts';

export interface Heartbeats {
  /** URL for workers, such as http://127.0.0.1:8091/heartbeat. */
  readonly url: string;
  /** Time since which this process receives heartbeats. */
  readonly since: Date;
  /** Returns the heartbeat of an attempt; null before the first one. */
  last(jobId: string, attempt: number): Heartbeat | null;
  /** Returns the outcome that an attempt of the MediaJob with that nonce has reported; null: none. */
  outcome(jobId: string, attempt: number, dispatch: string): RunOutcome | null;
  forget(jobId: string): void;
  /** Calls back with the job's id after heartbeats, at most four times a second per job. */
  watch(onBeat: (jobId: string) => void, signal: AbortSignal): void;
  close(): Promise<void>;
}

export interface WorkerPortDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly mediaJobs: Pick<MediaJobClient, 'get' | 'isUnclaimed'>;
  readonly grantTransfer: GrantTransfer;
  /** Returns the response to a standby; absent: there are none. */
  readonly pollStandby?: (token: string, signal: AbortSignal, finished: AttemptId | null) => Promise<PollReply>;
  /** Returns the leader: this process, the URL of another one, or null when there is none. Default: this process. */
  readonly leader?: () => 'self' | URL | null;
}

export interface WorkerPortOptions {
  /** Address of the server; port 0 selects a free one. */
  readonly address: ListenAddress;
  /** Key of 32 random bytes that signs the tokens of the tickets. */
  readonly key: Buffer;
  /** URL for workers; by default that of the bound address. */
  readonly url?: string;
}

const REQUEST_MS = 10_000;
/** Time for which an idle connection is kept: more than the interval of heartbeats, so that they need no DNS. */
const KEEP_ALIVE_MS = 65_000;
/**
 * Maximum numbers of open connections. A worker needs three. The limit per address is higher, because another controller
 * forwards the requests of many workers, and a node may translate the addresses of its pods to its own.
 */
const CONNECTIONS = { total: 10_000, perAddress: 256 };
/** Maximum size of the report of an outcome, in bytes: each character of the text may be escaped. */
const OUTCOME_BYTES = 32 * 1024;

/** Starts the server of the workers' port. Rejects when its address cannot be bound. */
export async function serveWorkerPort(deps: WorkerPortDeps, options: WorkerPortOptions): Promise<Heartbeats> {
  const recorded = new Map<string, RecordedHeartbeat>();
  const watchers = new Watchers<string>();

  const outcomes = new OutcomeReports();
  const closing = new AbortController();

  /** Handles a request as the leader, or forwards it to the leader. */
  const byLeader = async (
    request: IncomingMessage,
    sent: { body: object; signal?: AbortSignal; timeoutMs?: number },
    handle: () => Promise<PortReply>,
  ): Promise<PortReply> => {
    const leader = deps.leader === undefined ? 'self' : deps.leader();
    if (leader === 'self') return handle();
    if (leader === null || isForwarded(request)) return { status: 503 };
    const { authorization } = request.headers;
    return forwardToLeader(new URL(request.url ?? '', leader), { authorization, ...sent });
  };
  const receiveStandby = async (request: IncomingMessage, signal: AbortSignal): Promise<PortReply> => {
    const body = standbyPollSchema.safeParse(await readJson(request)).data ?? { finished: null };
    const { authorization = '' } = request.headers;
    const poll = deps.pollStandby ?? (async () => ({ status: 410 }) as const);
    const waiting = { body, signal, timeoutMs: POLL_MS + REQUEST_MS };
    return byLeader(request, waiting, () => poll(authorization.replace(/^Bearer /, ''), signal, body.finished));
  };
  /** Records an outcome. A report that is lost does no harm: the end of the pod reports it again. */
  const recordOutcome = async (report: OutcomeReport): Promise<number> => {
    const status = outcomes.record(await deps.mediaJobs.get(mediaJobName(report.jobId)), report);
    if (status === 204) watchers.notify(report.jobId);
    return status;
  };
  const receiveAsLeader = async (body: HeartbeatBody): Promise<number> => {
    const name = mediaJobName(body.jobId);
    const mediaJob = await deps.mediaJobs.get(name);
    if (mediaJob === null && (await deps.mediaJobs.isUnclaimed(name))) return 503;
    if (!isCurrent(mediaJob, body.attempt)) return 410;
    const isCallbackDue = recordHeartbeat(recorded, body, deps.clock.now());
    if (isCallbackDue) watchers.notify(body.jobId);
    return 204;
  };

  const { key } = options;
  const endpoints: ReadonlyMap<string | undefined, PortEndpoint> = new Map([
    [
      HEARTBEAT_PATH,
      attemptEndpoint({ key, schema: heartbeatBodySchema }, (body, request) =>
        byLeader(request, { body }, async () => ({ status: await receiveAsLeader(body) })),
      ),
    ],
    [
      OUTCOME_PATH,
      attemptEndpoint({ key, schema: outcomeReportSchema, maxBytes: OUTCOME_BYTES }, (body, request) =>
        byLeader(request, { body }, async () => ({ status: await recordOutcome(body) })),
      ),
    ],
    [
      TRANSFER_PATH,
      attemptEndpoint({ key, schema: transferRequestSchema }, async (body) =>
        replyWith(await deps.grantTransfer(body)),
      ),
    ],
    [STANDBY_PATH, receiveStandby],
  ]);
  const server = createServer(
    { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    portListener(endpoints, { log: deps.log, failure: 'request of a worker not handled', closing: closing.signal }),
  );
  limitConnections({ server, log: deps.log }, CONNECTIONS);
  await listen(server, options.address);

  return {
    url: options.url ?? boundUrl(options.address, portOf(server)),
    since: deps.clock.now(),
    last(jobId, attempt) {
      const found = recorded.get(jobId);
      return found?.attempt === attempt ? found : null;
    },
    outcome: (jobId, attempt, dispatch) => outcomes.find(jobId, attempt, dispatch),
    forget(jobId) {
      recorded.delete(jobId);
      outcomes.forget(jobId);
    },
    watch: (onBeat, signal) => watchers.add(onBeat, signal),
    close() {
      closing.abort();
      return closeServer(server);
    },
  };
}

function boundUrl(address: ListenAddress, port: number | null): string {
  if ('socket' in address) return `${socketUrl(address.socket)}${HEARTBEAT_PATH}`;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `http://${host}:${port}${HEARTBEAT_PATH}`;
}
