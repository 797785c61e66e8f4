/** Waits for the end of everything that a run began, and checks all invariants. */
import type { FaultAccount } from '#test/faults/account.ts';
import { checkDeliveries } from '#test/faults/check-deliveries.ts';
import { checkLimits } from '#test/faults/check-limits.ts';
import { checkLeftovers } from '#test/faults/check-leftovers.ts';
import { checkRecords } from '#test/faults/check-records.ts';
import { until } from '#test/faults/until.ts';
import type { World } from '#test/faults/world.ts';

/** Waits until every job of the accounts has ended and every event is delivered or dropped. @throws Error after two minutes */
export async function finishEverything(world: World, accounts: readonly FaultAccount[]): Promise<void> {
  const ids = accounts.map(({ id }) => id);
  const unfinished = (): Promise<Record<string, any>[]> =>
    world.query(
      `select id, status, attempt from jobs where account_id = any ($1) and status in ('queued', 'processing')`,
      [ids],
    );
  const waits = (): Promise<Record<string, any>[]> =>
    world.query(
      `select max(greatest(next_at, lease_until)) as at from transfers join jobs on jobs.id = job_id
       where account_id = any ($1) and done_at is null and greatest(next_at, lease_until) > $2`,
      [ids, world.clock.now()],
    );
  await until(
    'every-job-ends: every job ends',
    async () => {
      if ((await unfinished()).length === 0) return true;
      const at = (await waits())[0]?.['at'] as Date | null;
      if (at !== null) await world.clock.passGently((at.getTime() - world.clock.now().getTime()) / 1000 + 1);
      return false;
    },
    { seconds: 120, everyMs: 300 },
  ).catch(async (error: unknown) => {
    throw new Error(`${(error as Error).message}: ${JSON.stringify(await unfinished())}`);
  });
  await until(
    'events-delivered: every event is delivered or dropped',
    async () => {
      const [row = {}] = await world.query(
        `select min(greatest(next_at, coalesce(lease_until, next_at))) as at, count(*) as open from webhook_deliveries where account_id = any ($1) and done_at is null`,
        [ids],
      );
      if (Number(row['open']) === 0) return true;
      const seconds = ((row['at'] as Date).getTime() - world.clock.now().getTime()) / 1000;
      if (seconds > 0) await world.clock.pass(seconds + 1);
      return false;
    },
    { seconds: 60, everyMs: 300 },
  );
}

interface ChecksInput {
  readonly accounts: readonly FaultAccount[];
  readonly stranger: FaultAccount;
  /** Webhook attempts that a crash may have doubled. */
  readonly repeats: number;
  /** Number of times that Redis may have lost the tokens. */
  readonly extraBuckets: number;
}

export async function checkEverything(
  world: World,
  { accounts, stranger, ...allowed }: ChecksInput,
): Promise<string[]> {
  const problems: string[] = [];
  for (const account of accounts) {
    problems.push(
      ...(await checkRecords(world, account)),
      ...(await checkDeliveries(world, account, allowed.repeats)),
      ...(await checkLimits(world, account, allowed.extraBuckets)),
    );
    if (account !== stranger) problems.push(...(await checkLeftovers(world, account, stranger)));
    problems.push(...account.violations);
  }
  return problems;
}
