/** Brings what a run began to its end, and asks all checks about it. */
import type { TestAccount } from '#test/faults/account.ts';
import { checkDeliveries } from '#test/faults/check-deliveries.ts';
import { checkLimits } from '#test/faults/check-limits.ts';
import { checkLeftovers } from '#test/faults/check-leftovers.ts';
import { checkRecords } from '#test/faults/check-records.ts';
import { until } from '#test/faults/until.ts';
import type { World } from '#test/faults/world.ts';

/** Every job of the accounts ends, every event is delivered or dropped. @throws Error when they do not */
export async function finishEverything(world: World, accounts: readonly TestAccount[]): Promise<void> {
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
    'I1: every job ends',
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
    'I4: every event is delivered or dropped',
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
  readonly accounts: readonly TestAccount[];
  readonly stranger: TestAccount;
  /** Webhook attempts that a crash may have doubled. */
  readonly repeats: number;
  /** Times that Redis may have forgotten the tokens. */
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
