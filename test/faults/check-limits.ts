/** Invariant limits-respected: never more unfinished jobs than the plan allows, nor more direct requests than tokens. */
import { directRule } from '#api/limits/plan-rules.ts';
import { PLANS } from '#crds/catalogue/plans.ts';
import type { ApiExchange, FaultAccount } from '#test/faults/account.ts';
import type { World } from '#test/faults/world.ts';

/** Returns violations. `extraBuckets`: number of times that Redis may have lost the tokens. */
export async function checkLimits(world: World, account: FaultAccount, extraBuckets: number): Promise<string[]> {
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

function wrongHeaders(direct: readonly ApiExchange[]): string[] {
  const wrong = direct.filter(({ status, headers }) => {
    // Responses have these headers only when the key could be looked up.
    if (status >= 500 && headers['ratelimit-limit'] === undefined) return false;
    const [limit, remaining] = [Number(headers['ratelimit-limit']), Number(headers['ratelimit-remaining'])];
    return status !== 0 && !(Number.isInteger(remaining) && remaining >= 0 && remaining <= limit);
  });
  return wrong.map(
    ({ status, headers }) =>
      `limits-respected: a response ${status} reports ${String(headers['ratelimit-remaining'])} tokens left`,
  );
}

/** Returns a violation when, from any request on, more were admitted than the bucket held and was refilled with. */
function tooManyTokens({ plan, id }: FaultAccount, direct: readonly ApiExchange[], extraBuckets: number): string[] {
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
        return [
          `limits-respected: ${count + 1} requests took a token in ${answeredAt - sentAt} ms; the bucket had ${most}`,
        ];
    }
  }
  return [];
}

async function tooManyJobs(world: World, { id, plan }: FaultAccount): Promise<string[]> {
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
    : [`limits-respected: ${row['most']} jobs were unfinished at once; the plan allows ${most}`];
}

/** Returns reservations that still count against the cap after everything has ended. */
async function heldMoney(world: World, { id }: FaultAccount): Promise<string[]> {
  const rows = await world.query(
    'select request_id from direct_reservations where account_id = $1 and lease_until > $2',
    [id, new Date(world.clock.now().getTime() + 60_000)],
  );
  return rows.map((row) => `limits-respected: ${row['request_id']} is reserved for more than a lease`);
}
