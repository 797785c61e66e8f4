import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import type { AttemptId } from '#crds/contract/run-spec.ts';
import { http, startRequest } from '#crds/process/start-request.ts';

export interface RunSource {
  readonly url: string;
  /** File with the token of this pod, which the node renews. */
  readonly tokenFile: string;
  /** Default: 10 minutes. */
  readonly giveUpMs?: number;
  /** Default: one second. */
  readonly retryMs?: number;
  /** Attempt that this standby has performed before. Then it asks once only. */
  readonly finished?: AttemptId;
}

/** Time without a response other than a refusal after which a standby ends: the service was probably uninstalled. */
const GIVE_UP_MS = 600_000;
const RETRY_MS = 1000;
/** Time for which a standby that has performed an attempt waits for another one, in milliseconds. */
const IDLE_MS = 10_000;
/** Above the time for which a controller, and another one that forwards to it, keep a request open. */
const TIMEOUT_MS = 45_000;

const RUN = 200;
const NO_RUN_YET = 204;
const NO_RUN = 410;

/** Asks the controller for a run until there is one. Returns its spec as received; null when there will be none. */
export async function awaitRun(target: RunSource): Promise<unknown> {
  const { giveUpMs = GIVE_UP_MS, retryMs = RETRY_MS } = target;
  const agent = target.url.startsWith('https:') ? undefined : new http.Agent({ keepAlive: true });
  let respondedAt = performance.now();
  try {
    while (performance.now() - respondedAt < giveUpMs) {
      const { status, body } = await ask(target, agent).catch(() => ({ status: 0, body: '' }));
      if (status === RUN) return JSON.parse(body);
      if (status === NO_RUN || target.finished !== undefined) return null;
      if (status === NO_RUN_YET) respondedAt = performance.now();
      else await wait(retryMs);
    }
    return null;
  } finally {
    agent?.destroy();
  }
}

async function ask(
  { url, tokenFile, finished }: RunSource,
  agent: InstanceType<typeof http.Agent> | undefined,
): Promise<{ status: number; body: string }> {
  const body = JSON.stringify({ finished: finished ?? null });
  const headers = {
    authorization: `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  const timeout = finished === undefined ? TIMEOUT_MS : IDLE_MS;
  return new Promise((resolve, reject) => {
    const connection = agent === undefined ? {} : { agent };
    const request = startRequest(url, { method: 'POST', headers, timeout, ...connection });
    request.once('timeout', () => request.destroy());
    request.once('error', reject);
    request.once('response', (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    request.end(body);
  });
}
