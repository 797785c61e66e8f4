/**
 * Reports to the controller that the attempt is running, with its progress. Imports little besides Node's own modules:
 * the first heartbeat is sent before large modules are loaded.
 */
import type { Agent } from 'node:http';
import { http, startRequest } from '#crds/process/start-request.ts';

export interface HeartbeatTarget {
  readonly jobId: string;
  readonly attempt: number;
  readonly url: string;
  readonly token: string;
  readonly intervalSeconds: number;
}

export interface HeartbeatSender {
  /** Time of the first heartbeat, in milliseconds of `performance.now()`. */
  readonly startedAt: number;
  /** Reports progress, 0 to 99 percent; lower values are ignored. A rise of 5 is sent early, at most every 0.5 seconds. */
  report(percent: number): void;
  stop(): void;
}

const STEP_PERCENT = 5;
const MIN_INTERVAL_MS = 500;
const TIMEOUT_MS = 10_000;
/** Status of the controller's response to an attempt that is no longer the job's. */
const FENCED = 410;

/** Sends the first heartbeat now, then one in every interval. A failed one is not retried: the next one follows. */
export function startHeartbeats(target: HeartbeatTarget, onFenced: () => void): HeartbeatSender {
  const agent = target.url.startsWith('https:') ? undefined : new http.Agent({ keepAlive: true });
  let percent = 0;
  let sentPercent = 0;
  let sentAt = 0;
  let earlyTimer: NodeJS.Timeout | null = null;
  const beat = (): void => {
    if (earlyTimer !== null) clearTimeout(earlyTimer);
    earlyTimer = null;
    sentPercent = percent;
    sentAt = performance.now();
    post(target, { percent, agent }, (status) => {
      if (status === FENCED) onFenced();
    });
  };
  const startedAt = performance.now();
  beat();
  const timer = setInterval(beat, target.intervalSeconds * 1000);
  return {
    startedAt,
    report(value) {
      percent = Math.max(percent, Math.min(99, Math.floor(value)));
      if (percent - sentPercent < STEP_PERCENT || earlyTimer !== null) return;
      earlyTimer = setTimeout(beat, Math.max(0, sentAt + MIN_INTERVAL_MS - performance.now()));
    },
    stop() {
      clearInterval(timer);
      if (earlyTimer !== null) clearTimeout(earlyTimer);
      agent?.destroy();
    },
  };
}

function post(
  target: HeartbeatTarget,
  beat: { percent: number; agent: Agent | undefined },
  onStatus: (status: number) => void,
): void {
  const { url, token, jobId, attempt } = target;
  const body = JSON.stringify({ jobId, attempt, percent: beat.percent });
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  const request = startRequest(url, {
    method: 'POST',
    headers,
    timeout: TIMEOUT_MS,
    ...(beat.agent === undefined ? {} : { agent: beat.agent }),
  });
  request.once('timeout', () => request.destroy());
  request.once('error', () => undefined);
  request.once('response', (response) => {
    response.resume();
    onStatus(response.statusCode ?? 0);
  });
  request.end(body);
}
