/** I8: at no moment more unfinished jobs than the plan allows, and never more direct requests than tokens. */
import { directRule } from '#api/limits/plan-rules.ts';
import { PLANS } from '#crds/plans.ts';
import type { Exchange, TestAccount } from '#test/faults/account.ts';
import type { World } from '#test/faults/world.ts';

/** `extraBuckets`: how often the tokens may have been forgotten, as they are when Redis is. */
export async function checkLimits(world: World, account: TestAccount, extraBuckets: number): Promise<string[]> {
  const direct = account.exchanges.filter(({ method, path }) => method === 'POST' && DIRECT.test(path));
  return [
    ...wrongHeaders(direct),
    ...tooManyTokens(account, direct, extraBuckets),
    ...(await tooManyJobs(world, account)),
    ...(await heldMoney(world, account)),
  ];
}

const DIRECT = /^\/v1\/(convert|compress|strip-metadata)\b/;
/** Refused before a token is taken. */
const WITHOUT_TOKEN: readonly unknown[] = ['concurrency_limited', 'rate_limited'];

function wrongHeaders(direct: readonly Exchange[]): string[] {
  const wrong = direct.filter(({ status, headers }) => {
    // Only a request whose key could be looked up has them.
    if (status >= 500 && headers['ratelimit-limit'] === undefined) return false;
    const [limit, remaining] = [Number(headers['ratelimit-limit']), Number(headers['ratelimit-remaining'])];
    return status !== 0 && !(Number.isInteger(remaining) && remaining >= 0 && remaining <= limit);
  });
  return wrong.map(
    ({ status, headers }) => `I8: an answer ${status} says ${String(headers['ratelimit-remaining'])} tokens are left`,
  );
}

/** From any request on, no more were admitted than the bucket held and got since. */
function tooManyTokens({ plan, id }: TestAccount, direct: readonly Exchange[], extraBuckets: number): string[] {
  const { capacity, refillPerSecond } = directRule({ account: { id, plan }, livemode: true });
  const admitted = direct.filter(({ status, body }) => status !== 0 && !WITHOUT_TOKEN.includes(body?.error?.code));
  const sent = admitted.toSorted((a, b) => a.sentAt - b.sentAt);
  for (const [index, { sentAt }] of sent.entries()) {
    const answers = sent
      .slice(index)
      .map(({ answeredAt }) => answeredAt)
      .toSorted((a, b) => a - b);
    for (const [count, answeredAt] of answers.entries()) {
      const most = capacity * (1 + extraBuckets) + Math.ceil((refillPerSecond * (answeredAt - sentAt)) / 1000) + 1;
      if (count + 1 > most)
        return [`I8: ${count + 1} requests took a token in ${answeredAt - sentAt} ms; ${most} were there`];
    }
  }
  return [];
}

async function tooManyJobs(world: World, { id, plan }: TestAccount): Promise<string[]> {
  const [row = {}] = await world.query(
    `select coalesce(max(open), 0) as most from (
       select sum(step) over (order by at, step) as open from (
         select created_at as at, 1 as step from jobs where account_id = $1
         union all
         select completed_at, -1 from jobs where account_id = $1 and completed_at is not null
       ) steps
     ) counts`,
    [id],
  );
  const most = PLANS[plan].concurrentJobs;
  return Number(row['most']) <= most
    ? []
    : [`I8: ${row['most']} jobs were unfinished at once; the plan allows ${most}`];
}

/** Everything has ended: nothing may still count against the cap. */
async function heldMoney(world: World, { id }: TestAccount): Promise<string[]> {
  const rows = await world.query(
    'select request_id from direct_reservations where account_id = $1 and lease_until > $2',
    [id, new Date(world.clock.now().getTime() + 60_000)],
  );
  return rows.map((row) => `I8: ${row['request_id']} is reserved for more than a lease`);
}
