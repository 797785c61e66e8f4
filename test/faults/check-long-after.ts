/** Invariants of time: 32 days after everything ended, only the ledger remains. */
import { until } from '#test/faults/until.ts';
import type { World } from '#test/faults/world.ts';

const MONTH_SECONDS = 32 * 24 * 3600;

export async function checkLongAfter(world: World): Promise<string[]> {
  const ledger = await count(world, 'ledger');
  await world.clock.pass(MONTH_SECONDS);
  // Hourly clean-ups also run at a start.
  world.kill('control');
  await world.heal();
  const wrong: string[] = [];
  const expectNone = async (what: string, left: () => Promise<number> | number): Promise<void> => {
    await until(`${what} remain`, async () => (await left()) === 0, { seconds: 60, everyMs: 500 }).catch(
      (error: Error) => wrong.push(error.message),
    );
  };
  await expectNone('files-deleted: objects', () => world.files.objects().length);
  await expectNone('files-deleted: partly written files', () => world.files.halfWritten().length);
  // Job rows are deleted after their files, at the next start.
  world.kill('control');
  await world.heal();
  for (const table of [
    'jobs',
    'uploads',
    'upload_parts',
    'transfers',
    'webhook_deliveries',
    'idempotency_keys',
    'upload_allowance',
    'file_deletions',
    'direct_reservations',
  ])
    await expectNone(`nothing-left-over: rows of ${table}`, () => count(world, table));
  if ((await count(world, 'ledger')) !== ledger) wrong.push('charged-once: the ledger has changed');
  return wrong;
}

async function count(world: World, table: string): Promise<number> {
  return Number((await world.query(`select count(*) as count from ${table}`))[0]?.['count']);
}
