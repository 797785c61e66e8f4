import { text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { createAccount } from '#api/accounts/create-account.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { jobEvents } from '#api/dashboard/job-events.ts';
import { newId } from '#crds/contract/ids.ts';
import { systemClock } from '#crds/process/clock.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const account = { name: 'a', plan: 'payg', paymentMethod: true, features: [] } as const;

it('a user who was removed from the account receives no more events of a running job', async () => {
  const { id: accountId } = await createAccount(
    { database, clock: systemClock, newId },
    { caller: MEDIACTL, input: account },
  );
  const id = newId('job');
  await database.query(
    `insert into jobs (id, account_id, livemode, operation, status, created_at, input_key, input_stored, options,
       limits, features, retention_seconds, metadata)
     values ($1, $2, true, 'compress', 'queued', now(), '', true, '{}', '{}', '{}', 3600, '{}')`,
    [id, accountId],
  );
  let accessChecks = 0;
  const mayRead = async (): Promise<boolean> => (accessChecks += 1) < 2;
  const { signal } = new AbortController();
  const events = await text(Readable.from(jobEvents({ database }, { accountId, ids: [id], signal, mayRead })));
  expect(events).toContain(id);
  expect(events).not.toContain('event: end');
  expect(accessChecks).toBe(2);
});
