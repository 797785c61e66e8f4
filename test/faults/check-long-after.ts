/** What time must have taken: a month and more after everything ended, nothing is left but what was charged. */
import { until } from '#test/faults/until.ts';
import type { World } from '#test/faults/world.ts';

const MONTH_SECONDS = 32 * 24 * 3600;

export async function checkLongAfter(world: World): Promise<string[]> {
  const ledger = await count(world, 'ledger');
  await world.clock.pass(MONTH_SECONDS);
  // The sweeps that run once an hour run at a start, too.
  world.kill('control');
  await world.heal();
  const wrong: string[] = [];
  const gone = async (what: string, left: () => Promise<number> | number): Promise<void> => {
    await until(what, async () => (await left()) === 0, { seconds: 60, everyMs: 500 }).catch(() =>
      wrong.push(`${what} are left`),
    );
  };
  await gone('I5: objects', () => world.files.objects().length);
  await gone('I5: half written files', () => world.files.halfWritten().length);
  // Jobs are forgotten once their files are: at the next start.
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
    await gone(`I12: rows of ${table}`, () => count(world, table));
  if ((await count(world, 'ledger')) !== ledger) wrong.push('I3: the ledger has changed');
  return wrong;
}

async function count(world: World, table: string): Promise<number> {
  return Number((await world.query(`select count(*) as count from ${table}`))[0]?.['count']);
}
