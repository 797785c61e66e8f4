/**
 * The port that workers report to: POST `HeartbeatBody` with the token of their attempt. Times and
 * percents are kept in memory, per job for the newest attempt that reported.
 *
 *   204 noted · 401 not this attempt's token · 410 the attempt is no longer the job's: stop the work
 *
 * Of several controllers the one that leads notes them; the others pass them on to it. 503: nobody leads.
 */
import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { heartbeatToken } from '#crds/heartbeat-token.ts';
import type { MediaJobClient } from '#crds/media-job-client.ts';
import { isFinal, type MediaJob } from '#crds/media-job.ts';
import { mediaJobName } from '#crds/names.ts';
import { heartbeatBodySchema, type HeartbeatBody } from '#crds/run-spec.ts';
import type { Clock } from '#crds/shared/clock.ts';
import type { Log } from '#crds/shared/log.ts';
import { closeServer, listen } from '#crds/shared/ops-server.ts';
import { isPassedOn, passOn } from '#controller/pass-on-heartbeat.ts';

export interface Heartbeat {
  readonly firstAt: Date;
  readonly lastAt: Date;
  /** 0 to 99; never falls within an attempt. */
  readonly percent: number;
}

export interface Heartbeats {
  /** Where workers report to, such as http://127.0.0.1:8091/heartbeat. */
  readonly url: string;
  /** Nobody can have reported before. */
  readonly since: Date;
  last(jobId: string, attempt: number): Heartbeat | null;
  forget(jobId: string): void;
  /** Calls back with the job's id at each heartbeat. */
  watch(onBeat: (jobId: string) => void, signal: AbortSignal): void;
  close(): Promise<void>;
}

export interface HeartbeatsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly mediaJobs: Pick<MediaJobClient, 'get'>;
  /** Who leads: this process, the one at that address, or nobody. By default this process. */
  readonly leader?: () => 'self' | URL | null;
}

export interface HeartbeatsOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** 32 random bytes, as the tokens of the tickets were made with. */
  readonly key: Buffer;
  /** Address that workers reach the port by; by default where it is bound. */
  readonly url?: string;
}

interface Noted extends Heartbeat {
  readonly attempt: number;
}

const BODY_BYTES = 1024;
const PATH = '/heartbeat';

/** Starts the port. Throws when it cannot be bound. */
export async function startHeartbeats(deps: HeartbeatsDeps, options: HeartbeatsOptions): Promise<Heartbeats> {
  const noted = new Map<string, Noted>();
  const watchers = new Set<(jobId: string) => void>();

  const receive = async (request: IncomingMessage): Promise<number> => {
    if (request.url !== PATH) return 404;
    if (request.method !== 'POST') return 405;
    const body = await readBody(request);
    if (body === null) return 400;
    const leader = deps.leader === undefined ? 'self' : deps.leader();
    if (leader === 'self') return noteOwn(body, request.headers.authorization);
    if (leader === null || isPassedOn(request)) return 503;
    return passOn(leader, { authorization: request.headers.authorization, body });
  };
  const noteOwn = async (body: HeartbeatBody, authorization: string | undefined): Promise<number> => {
    if (!isToken(authorization, heartbeatToken(options.key, body.jobId, body.attempt))) return 401;
    if (!isCurrent(await deps.mediaJobs.get(mediaJobName(body.jobId)), body.attempt)) return 410;
    note(noted, body, deps.clock.now());
    for (const watcher of watchers) watcher(body.jobId);
    return 204;
  };

  const server = createServer((request, response) => {
    receive(request).then(
      (status) => response.writeHead(status).end(),
      (error: unknown) => {
        deps.log.error({ err: error }, 'heartbeat not handled');
        response.writeHead(500).end();
      },
    );
  });
  await listen(server, options);
  const { port } = server.address() as AddressInfo;

  return {
    url:
      options.url ??
      new URL(PATH, `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`).href,
    since: deps.clock.now(),
    last(jobId, attempt) {
      const found = noted.get(jobId);
      return found?.attempt === attempt ? found : null;
    },
    forget: (jobId) => void noted.delete(jobId),
    watch(onBeat, signal) {
      watchers.add(onBeat);
      signal.addEventListener('abort', () => watchers.delete(onBeat), { once: true });
    },
    close: () => closeServer(server),
  };
}

async function readBody(request: IncomingMessage): Promise<HeartbeatBody | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES) return null;
    chunks.push(chunk);
  }
  try {
    return heartbeatBodySchema.safeParse(JSON.parse(Buffer.concat(chunks).toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}

function isToken(header: string | undefined, expected: string): boolean {
  const sent = Buffer.from(header ?? '');
  const wanted = Buffer.from(`Bearer ${expected}`);
  return sent.length === wanted.length && timingSafeEqual(sent, wanted);
}

/**
 * False for an attempt that was given up. An attempt above the recorded one has a token of ours: it
 * was recorded a moment ago and this reader's view is older.
 */
function isCurrent(mediaJob: MediaJob | null, attempt: number): boolean {
  if (mediaJob === null || isFinal(mediaJob.status)) return false;
  const current = mediaJob.status?.attempt ?? 0;
  return attempt > current || (attempt === current && mediaJob.status?.reason !== 'AttemptLost');
}

function note(noted: Map<string, Noted>, { jobId, attempt, percent }: HeartbeatBody, now: Date): void {
  const before = noted.get(jobId);
  const same = before?.attempt === attempt ? before : null;
  noted.set(jobId, {
    attempt,
    firstAt: same?.firstAt ?? now,
    lastAt: now,
    percent: Math.max(percent, same?.percent ?? 0),
  });
}
