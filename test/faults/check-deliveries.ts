/** Invariant events-delivered: every event arrives or is dropped after 8 attempts, with the same bytes each time, signed with one known secret. */
import { createHmac } from 'node:crypto';
import type { FaultAccount } from '#test/faults/account.ts';
import { wrongSchedule } from '#test/faults/life-cycles.ts';
import type { ReceivedRequest } from '#test/faults/receiver.ts';
import type { World } from '#test/faults/world.ts';

/** Returns violations. `repeats`: attempts that a crash may have doubled. */
export async function checkDeliveries(world: World, account: FaultAccount, repeats: number): Promise<string[]> {
  const rows = await world.query(
    'select id, job_id, attempt, delivered, done_at, body from webhook_deliveries where account_id = $1',
    [account.id],
  );
  const attempts = Map.groupBy(
    world.receiver.received(account.path).filter(({ headers }) => headers['svc-event-id'] !== undefined),
    ({ headers }) => String(headers['svc-event-id']),
  );
  const secrets = [...account.secrets.values()].flat();
  return rows.flatMap((row) => {
    const sent = attempts.get(String(row['id'])) ?? [];
    const wrong = [
      ...(row['done_at'] === null ? ['it is neither delivered nor dropped'] : []),
      ...(Number(row['attempt']) > 8 ? [`${row['attempt']} attempts are counted`] : []),
      ...(row['delivered'] === true && sent.length === 0 ? ['it never arrived'] : []),
      ...(row['delivered'] === false && Number(row['attempt']) < 8 ? ['it was dropped before the 8th attempt'] : []),
      ...wrongAttempts(sent, { body: row['body'] as Buffer, secrets, repeats }),
    ];
    return wrong.map((one) => `events-delivered: ${row['id']} of ${row['job_id']}: ${one}`);
  });
}

function wrongAttempts(
  sent: readonly ReceivedRequest[],
  { body, secrets, repeats }: { body: Buffer; secrets: readonly string[]; repeats: number },
): string[] {
  const signed = sent.map((one) => ({
    seconds: secondsOf(one),
    secret: secrets.find((secret) => isSigned(one, secret)),
  }));
  const used = new Set(signed.map(({ secret }) => secret));
  return [
    ...(sent.some((one) => !one.body.equals(body)) ? ['an attempt has other bytes'] : []),
    ...(used.has(undefined) ? ['an attempt is signed with no known secret'] : []),
    ...(used.size > 1 ? ['its attempts are signed with different secrets'] : []),
    ...wrongSchedule(
      signed.map(({ seconds }) => seconds),
      repeats,
    ),
  ];
}

function secondsOf({ headers }: ReceivedRequest): number {
  return Number(/^t=(\d+),/.exec(String(headers['svc-signature']))?.[1]);
}

function isSigned(received: ReceivedRequest, secret: string): boolean {
  const [, time = '', signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(received.headers['svc-signature'])) ?? [];
  return createHmac('sha256', secret).update(`${time}.`).update(received.body).digest('hex') === signature;
}
