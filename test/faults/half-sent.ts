/** A request whose body stops in the middle until the test goes on. */
import { request, type RequestOptions } from 'node:https';
import { once } from 'node:events';
import type { FaultAccount } from '#test/faults/account.ts';
import type { World } from '#test/faults/world.ts';

export interface HalfSent {
  /** Sends the rest. */
  finish(): void;
  cut(): void;
  /** Status; 0 when the connection ended without a response. */
  readonly status: Promise<number>;
}

/** Resolves when the first half was sent. */
export async function sendHalf(
  world: World,
  account: FaultAccount,
  { method, path, body }: { method: 'POST' | 'PUT'; path: string; body: Buffer },
): Promise<HalfSent> {
  const options: RequestOptions = {
    method,
    ca: world.service().ca,
    agent: false,
    headers: { authorization: `Bearer ${account.key}`, 'content-length': body.length },
  };
  const sending = request(new URL(path, world.service().baseUrl), options);
  const status = new Promise<number>((resolve) => {
    sending.once('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sending.once('error', () => resolve(0));
    sending.once('close', () => resolve(0));
  });
  await once(sending, 'socket');
  const half = body.length >> 1;
  await new Promise<void>((written) => void sending.write(body.subarray(0, half), () => written()));
  return {
    finish: () => void sending.end(body.subarray(half)),
    cut: () => void sending.destroy(),
    status,
  };
}
