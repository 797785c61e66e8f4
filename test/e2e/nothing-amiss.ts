/**
 * Checks the invariants of all accepted jobs in PostgreSQL, at the receiver and in the cluster.
 */
import { mediaJobName } from '#crds/contract/names.ts';
import { kubectlJson } from '#test/e2e/commands.ts';
import type { ReceiverPod } from '#test/e2e/receiver-pod.ts';
import { sql } from '#test/e2e/stores.ts';

/**
 * Waits until all jobs have ended and everything about them is settled.
 * @throws Error after `seconds`, with the violations.
 */
export async function expectNothingAmiss(receiver: ReceiverPod, seconds = 120): Promise<void> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    // A store that was just killed may not answer yet.
    const amiss = await whatIsAmiss(receiver).catch((error: unknown) => [String(error)]);
    if (amiss.length === 0) return;
    if (performance.now() > end) throw new Error(`after ${seconds} s:\n${amiss.join('\n')}`);
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

interface JobFacts {
  readonly id: string;
  readonly status: string;
  readonly livemode: boolean;
  readonly hasWebhook: boolean;
  readonly charges: number;
  readonly deliveries: number;
  readonly delivered: number;
}

const FINAL = ['succeeded', 'failed', 'canceled'];
const JOBS = `
  select id, status, livemode,
    coalesce(webhook_url, encode(sealed_webhook_url, 'hex')) is not null as "hasWebhook",
    (select count(*) from ledger where source_id = jobs.id) as charges,
    (select count(*) from webhook_deliveries where job_id = jobs.id) as deliveries,
    (select count(*) from webhook_deliveries where job_id = jobs.id and delivered) as delivered
  from jobs`;
const MONEY = `
  select (select coalesce(sum(amount_micro_usd), 0) from ledger where livemode) as ledger,
    (select coalesce(sum(amount_micro_usd), 0) from monthly_spend) as spent,
    (select coalesce(sum(amount_micro_usd), 0) from usage_days where livemode) as used,
    (select coalesce(sum(reserved_micro_usd), 0) from jobs where completed_at is not null) as reserved`;

async function whatIsAmiss(receiver: ReceiverPod): Promise<string[]> {
  const jobs = await sql<JobFacts>(JOBS);
  const [money] = await sql<Record<string, number>>(MONEY);
  const [objects, events] = [await objectsOfJobs(), eventsByJob(await receiver.received())];
  return [
    ...jobs.flatMap((job) => amissOfJob(job, events.get(job.id) ?? new Map<string, Set<string>>())),
    ...amissOfMoney(money ?? {}),
    ...objects.flatMap((object) => amissOfObject(object, objects, jobs)),
  ];
}

function amissOfJob(job: JobFacts, events: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const { id, status, charges, hasWebhook } = job;
  const destinations = hasWebhook ? 1 : 0;
  return [
    [FINAL.includes(status), `is ${status}`],
    [charges === 1, `has ${charges} entries in the ledger`],
    [job.deliveries === destinations, `has ${job.deliveries} events for ${destinations} destinations`],
    [job.delivered === destinations, `has ${job.delivered} delivered events of ${destinations}`],
    [events.size === destinations, `sent ${events.size} different events`],
    [[...events.values()].every((bodies) => bodies.size === 1), 'sent one event with different bodies'],
  ].flatMap(([holds, otherwise]) => (holds === true ? [] : [`${id} ${String(otherwise)}`]));
}

function amissOfMoney({ ledger, spent, used, reserved }: Record<string, number>): string[] {
  return ledger === spent && ledger === used && reserved === 0
    ? []
    : [`the ledger has ${ledger}, the months ${spent}, the days ${used} µ$; ended jobs reserve ${reserved}`];
}

/** Bodies of each event, by job. */
function eventsByJob(received: Awaited<ReturnType<ReceiverPod['received']>>): Map<string, Map<string, Set<string>>> {
  const byJob = new Map<string, Map<string, Set<string>>>();
  for (const { method, text } of received) {
    if (method !== 'POST') continue;
    const event = JSON.parse(text) as { id: string; data: { job: { id: string } } };
    const events = byJob.get(event.data.job.id) ?? new Map<string, Set<string>>();
    events.set(event.id, (events.get(event.id) ?? new Set<string>()).add(text));
    byJob.set(event.data.job.id, events);
  }
  return byJob;
}

interface ObjectOfJob {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly status?: { readonly phase?: string };
}

/** Returns MediaJobs and the objects created for them. */
export async function objectsOfJobs(): Promise<readonly ObjectOfJob[]> {
  const kinds = 'mediajobs,jobs.batch,pods,secrets';
  const { items } = await kubectlJson<{ items: ObjectOfJob[] }>('get', kinds, '--selector', 'mediajobs.dev/job');
  return items;
}

function amissOfObject(object: ObjectOfJob, all: readonly ObjectOfJob[], jobs: readonly JobFacts[]): string[] {
  const { kind, metadata, status } = object;
  if (metadata.deletionTimestamp !== undefined) return [];
  const name = metadata.labels['mediajobs.dev/job'] ?? '';
  const job = jobs.find(({ id }) => mediaJobName(id) === name);
  const orphan = !all.some((other) => other.kind === 'MediaJob' && other.metadata.name === name);
  const works = kind === 'Pod' && ['Pending', 'Running'].includes(status?.phase ?? '');
  return [
    [job !== undefined, 'belongs to no record'],
    [!orphan, 'belongs to no MediaJob'],
    [!works || job === undefined || !FINAL.includes(job.status), `still works for a job that is ${job?.status}`],
  ].flatMap(([holds, otherwise]) => (holds === true ? [] : [`${kind} ${metadata.name} ${String(otherwise)}`]));
}
