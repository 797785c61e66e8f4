/**
 * Tells the controller that the attempt lives and how far it is. Imports nothing but Node's own
 * modules: the first beat goes out before anything heavy is loaded.
 */
import { Agent, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';

export interface HeartbeatTarget {
  readonly jobId: string;
  readonly attempt: number;
  readonly url: string;
  readonly token: string;
  readonly intervalSeconds: number;
}

export interface Heartbeats {
  /** 0 to 99; a lower one than before is ignored. Sent at once when it moved by 5, at most every half second. */
  report(percent: number): void;
  stop(): void;
}

const STEP_PERCENT = 5;
const SHORTEST_GAP_MS = 500;
const ANSWER_MS = 10_000;
/** The controller's answer to an attempt that is no longer the job's. */
const FENCED = 410;

/** Sends the first beat now, then every interval. A beat that fails is not repeated: the next one follows. */
export function startHeartbeats(target: HeartbeatTarget, onFenced: () => void): Heartbeats {
  const agent = target.url.startsWith('https:') ? undefined : new Agent({ keepAlive: true });
  let percent = 0;
  let sentPercent = 0;
  let sentAt = 0;
  let early: NodeJS.Timeout | null = null;
  const beat = (): void => {
    if (early !== null) clearTimeout(early);
    early = null;
    sentPercent = percent;
    sentAt = performance.now();
    post(target, { percent, agent }, (status) => {
      if (status === FENCED) onFenced();
    });
  };
  beat();
  const timer = setInterval(beat, target.intervalSeconds * 1000);
  return {
    report(value) {
      percent = Math.max(percent, Math.min(99, Math.floor(value)));
      if (percent - sentPercent < STEP_PERCENT || early !== null) return;
      early = setTimeout(beat, Math.max(0, sentAt + SHORTEST_GAP_MS - performance.now()));
    },
    stop() {
      clearInterval(timer);
      if (early !== null) clearTimeout(early);
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
  const start = url.startsWith('https:') ? tlsRequest : plainRequest;
  const request = start(url, {
    method: 'POST',
    headers,
    timeout: ANSWER_MS,
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
