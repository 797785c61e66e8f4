/** Invariants every-job-ends, final-status-is-kept, charged-once and idempotency: acknowledged work ends once and is charged once. */
import type { FaultAccount } from '#test/faults/account.ts';
import type { JobStatus } from '#api/jobs/job.ts';
import { isFinal, wrongEnd, wrongLedger } from '#test/faults/life-cycles.ts';
import type { World } from '#test/faults/world.ts';

interface JobRow {
  readonly id: string;
  readonly status: JobStatus;
  readonly livemode: boolean;
  readonly billed: boolean;
  readonly result: { readonly kept_original: boolean } | null;
  readonly error: object | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
  readonly reserved_micro_usd: number;
}

export async function checkRecords(world: World, account: FaultAccount): Promise<string[]> {
  const jobs = (await world.query('select * from jobs where account_id = $1', [account.id])) as unknown as JobRow[];
  const ledger = await world.query('select source_id, meter, amount_micro_usd from ledger where account_id = $1', [
    account.id,
  ]);
  const rowsOf = (id: string) => ledger.filter((row) => row['source_id'] === id) as unknown as { meter: string }[];
  return [
    ...lostJobs(account, jobs),
    ...jobs.flatMap((job) => checkJob(job, rowsOf(job.id)).map((wrong) => `${job.id}: ${wrong}`)),
    ...repeatedKeys(account),
    ...directCharges(account, rowsOf),
    ...(await wrongSums(world, account)),
    ...(await wrongReceipts(account, jobs, ledger)),
  ];
}

/** Returns jobs answered with 202 that do not exist, and jobs that exist without a lost or 5xx response. */
function lostJobs(account: FaultAccount, jobs: readonly JobRow[]): string[] {
  const creations = account.exchanges.filter(({ method, path }) => method === 'POST' && path === '/v1/jobs');
  const acknowledged = new Set(creations.filter(({ status }) => status === 202).map(({ body }) => String(body.id)));
  const unknown = creations.filter(({ status }) => status === 0 || status >= 500).length + account.madeElsewhere.length;
  const existing = new Set(jobs.map(({ id }) => id));
  const extra = [...existing].filter((id) => !acknowledged.has(id)).length;
  return [
    ...[...acknowledged]
      .filter((id) => !existing.has(id))
      .map((id) => `every-job-ends: ${id} was answered with 202 and does not exist`),
    ...(extra > unknown
      ? [`every-job-ends: ${extra} jobs exist without a response, after ${unknown} requests without a response`]
      : []),
  ];
}

function checkJob(job: JobRow, ledger: readonly { meter: string }[]): string[] {
  const wrong = wrongEnd({
    status: job.status,
    livemode: job.livemode,
    billed: job.billed,
    keptOriginal: job.result?.kept_original ?? false,
    hasError: job.error !== null,
    hasResult: job.result !== null,
    times: [job.created_at, job.started_at, job.completed_at],
  });
  const charge = wrongLedger(ledger, isFinal(job.status) ? (job.billed ? 'billed' : 'unbilled') : 'none');
  const reserved = job.reserved_micro_usd === 0 || !isFinal(job.status);
  return [
    ...wrong.map((one) => `every-job-ends: ${one}`),
    ...(charge === null ? [] : [`charged-once: ${charge}`]),
    ...(reserved ? [] : ['charged-once: money is still reserved']),
  ];
}

function repeatedKeys({ exchanges }: FaultAccount): string[] {
  const ids = new Map<string, Set<string>>();
  for (const { idempotencyKey, status, body } of exchanges) {
    if (idempotencyKey === null || status !== 202) continue;
    ids.set(idempotencyKey, (ids.get(idempotencyKey) ?? new Set()).add(String(body.id)));
  }
  return [...ids]
    .filter(([, made]) => made.size > 1)
    .map(([key, made]) => `idempotency: the key ${key} made ${made.size} jobs`);
}

/** Returns violations: a 200 is in the ledger once, as its header says; any other response is not billed. */
function directCharges({ exchanges }: FaultAccount, rowsOf: (id: string) => { meter: string }[]): string[] {
  return exchanges.flatMap(({ method, path, status, headers }) => {
    if (method !== 'POST' || !/^\/v1\/(convert|compress|strip-metadata)\b/.test(path) || status === 0) return [];
    const id = String(headers['svc-request-id']);
    const rows = rowsOf(id);
    const billed = rows.filter(({ meter }) => meter !== 'unbilled');
    if (status !== 200)
      return billed.length === 0 ? [] : [`charged-once: ${id} was answered with ${status} and is billed`];
    const wrong = wrongLedger(rows, headers['svc-billed'] === 'true' ? 'billed' : 'unbilled');
    return wrong === null ? [] : [`charged-once: ${id}: ${wrong}`];
  });
}

async function wrongSums(world: World, account: FaultAccount): Promise<string[]> {
  const [sums = {}] = await world.query(
    `select
       (select coalesce(sum(amount_micro_usd), 0) from ledger where account_id = $1) as ledger,
       (select coalesce(sum(amount_micro_usd), 0) from monthly_spend where account_id = $1) as months,
       (select coalesce(sum(amount_micro_usd), 0) from usage_days where account_id = $1) as days,
       (select count(*) from ledger where account_id = $1) as rows,
       (select coalesce(sum(requests), 0) from usage_days where account_id = $1) as requests,
       (select count(*) from direct_reservations where account_id = $1 and lease_until > $2) as reserved`,
    [account.id, world.clock.now()],
  );
  const { ledger, months, days, rows, requests } = sums;
  return ledger === months && ledger === days && rows === requests
    ? []
    : [`charged-once: the sums differ: ${JSON.stringify(sums)}`];
}

/** Returns receipts of the newest jobs that differ from the ledger. */
async function wrongReceipts(
  account: FaultAccount,
  jobs: readonly JobRow[],
  ledger: readonly Record<string, any>[],
): Promise<string[]> {
  const wrong: string[] = [];
  for (const { id } of jobs.filter(({ status }) => isFinal(status)).slice(-3)) {
    const { status, body } = await account.call('GET', `/v1/jobs/${id}/receipt`);
    const charged = ledger.find((row) => row['source_id'] === id);
    const { billing } = (status === 200 ? body.payload : { billing: null }) as {
      billing: { amount_usd: number } | null;
    };
    if (Math.round((billing?.amount_usd ?? -1) * 1e6) !== Number(charged?.['amount_micro_usd']))
      wrong.push(`charged-once: the receipt of ${id} says ${JSON.stringify(billing)}`);
  }
  return wrong;
}
