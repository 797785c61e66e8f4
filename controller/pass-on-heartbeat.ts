import type { IncomingMessage } from 'node:http';
import { request } from 'undici';
import type { HeartbeatBody } from '#crds/run-spec.ts';

const HEADER = 'mediajobs-passed-on';
const ANSWER_MS = 5000;

/** A heartbeat is passed on once: two controllers that take each other for the leader do not play ball. */
export function isPassedOn({ headers }: IncomingMessage): boolean {
  return headers[HEADER] !== undefined;
}

/** Sends a heartbeat to the controller that leads; gives its answer, or 503 when there is none. */
export async function passOn(
  leader: URL,
  { authorization, body }: { authorization: string | undefined; body: HeartbeatBody },
): Promise<number> {
  const sender = authorization === undefined ? {} : { authorization };
  try {
    const answer = await request(leader, {
      method: 'POST',
      headers: { ...sender, [HEADER]: '1', 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    await answer.body.dump();
    return answer.statusCode;
  } catch {
    return 503;
  }
}
