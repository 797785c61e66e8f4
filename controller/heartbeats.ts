/**
 * HTTP server for heartbeats of workers: POST `HeartbeatBody` with the token of the attempt. Times and percentages are
 * kept in memory, per job, for the newest attempt that reported.
 *
 *   204 recorded · 401 wrong token · 410 the attempt is not current: the worker stops
 *
 * At `/transfer` the same token obtains signed URLs (`crds/contract/transfer-urls.ts`), from any controller.
 *
 * A token allows the heartbeats and transfers of its attempt only. Callbacks are rate-limited per job, so a worker that sends too
 * many heartbeats does not load the controller.
 *
 * Of several controllers, the leader records heartbeats and the others forward them to it. 503: there is no leader.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { readAttemptRequest } from '#crds/contract/attempt-request.ts';
import type { MediaJobClient } from '#crds/media-jobs/media-job-client.ts';
import { isFinal, type MediaJob } from '#crds/contract/media-job.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { heartbeatBodySchema, type HeartbeatBody } from '#crds/contract/run-spec.ts';
import {
  TRANSFER_PATH,
  transferRequestSchema,
  type GrantTransfer,
  type TransferGrant,
} from '#crds/contract/transfer-urls.ts';
import type { Clock } from '#crds/process/clock.ts';
import type { Log } from '#crds/process/log.ts';
import { closeServer, listen, portOf, type ListenAddress } from '#crds/process/ops-server.ts';
import { socketUrl } from '#crds/process/start-request.ts';
import { Watchers } from '#crds/process/watchers.ts';
import { forwardHeartbeat, isForwarded } from '#controller/forward-heartbeat.ts';

export interface Heartbeat {
  readonly firstAt: Date;
  readonly lastAt: Date;
  /** 0 to 99; never decreases within an attempt. */
  readonly percent: number;
}

/** Returns the time since which an active run is silent: its last heartbeat, or when one could be received first. */
export function silentSince(
  run: { readonly startedAt: Date },
  { heartbeat, listeningSince }: { heartbeat: Heartbeat | null; listeningSince: Date },
): Date {
  return new Date(Math.max(run.startedAt.getTime(), heartbeat?.lastAt.getTime() ?? 0, listeningSince.getTime()));
}

export interface Heartbeats {
  /** URL for workers, such as http://127.0.0.1:8091/heartbeat. */
  readonly url: string;
  /** Time since which this process receives heartbeats. */
  readonly since: Date;
  /** Returns the heartbeat of an attempt; null before the first one. */
  last(jobId: string, attempt: number): Heartbeat | null;
  forget(jobId: string): void;
  /** Calls back with the job's id after heartbeats, at most every `MIN_CALLBACK_MS` per job. */
  watch(onBeat: (jobId: string) => void, signal: AbortSignal): void;
  close(): Promise<void>;
}

export interface HeartbeatsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly mediaJobs: Pick<MediaJobClient, 'get' | 'isUnclaimed'>;
  readonly grantTransfer: GrantTransfer;
  /** Returns the leader: this process, the URL of another one, or null when there is none. Default: this process. */
  readonly leader?: () => 'self' | URL | null;
}

export interface HeartbeatsOptions {
  /** Address of the server; port 0 selects a free one. */
  readonly address: ListenAddress;
  /** Key of 32 random bytes that signs the tokens of the tickets. */
  readonly key: Buffer;
  /** URL for workers; by default that of the bound address. */
  readonly url?: string;
}

interface PortReply {
  readonly status: number;
  readonly body?: TransferGrant;
}

interface RecordedHeartbeat extends Heartbeat {
  readonly attempt: number;
  /** Time of the last callback. */
  readonly calledBackAt: Date;
}

const REQUEST_MS = 10_000;
/** Time for which an idle connection is kept: more than the interval of heartbeats, so that they need no DNS. */
const KEEP_ALIVE_MS = 65_000;
/** Minimum interval between callbacks for a job, in milliseconds. A worker sends at most two heartbeats a second. */
const MIN_CALLBACK_MS = 250;
const PATH = '/heartbeat';

/** Starts the server. Rejects when its address cannot be bound. */
export async function startHeartbeats(deps: HeartbeatsDeps, options: HeartbeatsOptions): Promise<Heartbeats> {
  const recorded = new Map<string, RecordedHeartbeat>();
  const watchers = new Watchers<string>();

  const receive = async (request: IncomingMessage): Promise<PortReply> => {
    if (request.url === TRANSFER_PATH) return grantTransfer(request);
    return { status: request.url === PATH ? await receiveHeartbeat(request) : 404 };
  };
  const grantTransfer = async (request: IncomingMessage): Promise<PortReply> => {
    const read = await readAttemptRequest(request, { key: options.key, schema: transferRequestSchema });
    if ('status' in read) return read;
    const body = await deps.grantTransfer(read.body);
    return body === null ? { status: 410 } : { status: 200, body };
  };
  const receiveHeartbeat = async (request: IncomingMessage): Promise<number> => {
    const read = await readAttemptRequest(request, { key: options.key, schema: heartbeatBodySchema });
    if ('status' in read) return read.status;
    const leader = deps.leader === undefined ? 'self' : deps.leader();
    if (leader === 'self') return receiveAsLeader(read.body);
    if (leader === null || isForwarded(request)) return 503;
    return forwardHeartbeat(leader, { authorization: request.headers.authorization, body: read.body });
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

  const server = createServer(
    { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    (request, response) => {
      receive(request).then(
        ({ status, body }) => response.writeHead(status).end(body === undefined ? undefined : JSON.stringify(body)),
        (error: unknown) => {
          deps.log.error({ err: error, path: request.url }, 'request of a worker not handled');
          response.writeHead(503).end();
        },
      );
    },
  );
  await listen(server, options.address);

  return {
    url: options.url ?? boundUrl(options.address, portOf(server)),
    since: deps.clock.now(),
    last(jobId, attempt) {
      const found = recorded.get(jobId);
      return found?.attempt === attempt ? found : null;
    },
    forget: (jobId) => void recorded.delete(jobId),
    watch: (onBeat, signal) => watchers.add(onBeat, signal),
    close: () => closeServer(server),
  };
}

function boundUrl(address: ListenAddress, port: number | null): string {
  if ('socket' in address) return `${socketUrl(address.socket)}${PATH}`;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `http://${host}:${port}${PATH}`;
}

/**
 * Returns whether an attempt is the current one. An attempt above that of the status has a valid token: it was recorded
 * recently and the cached status is older.
 */
function isCurrent(mediaJob: MediaJob | null, attempt: number): boolean {
  if (mediaJob === null || isFinal(mediaJob.status)) return false;
  const current = mediaJob.status?.attempt ?? 0;
  return attempt > current || (attempt === current && mediaJob.status?.reason !== 'AttemptLost');
}

/** Records a heartbeat. Returns whether a callback is due. */
function recordHeartbeat(
  recorded: Map<string, RecordedHeartbeat>,
  { jobId, attempt, percent }: HeartbeatBody,
  now: Date,
): boolean {
  const before = recorded.get(jobId);
  const same = before?.attempt === attempt ? before : null;
  const isCallbackDue = same === null || Math.abs(now.getTime() - same.calledBackAt.getTime()) >= MIN_CALLBACK_MS;
  recorded.set(jobId, {
    attempt,
    firstAt: same?.firstAt ?? now,
    lastAt: now,
    percent: Math.max(percent, same?.percent ?? 0),
    calledBackAt: isCallbackDue ? now : same.calledBackAt,
  });
  return isCallbackDue;
}
