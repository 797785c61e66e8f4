/** State of one job in the cluster. */
import { mediaJobName } from '#crds/contract/names.ts';
import { kubectl, until } from '#test/e2e/commands.ts';
import { sql } from '#test/e2e/stores.ts';

/** Selects the pods of a job; of one attempt, when that is given. */
export const podsOfJob = (id: string, attempt?: number): string =>
  `mediajobs.dev/job=${mediaJobName(id)}${attempt === undefined ? '' : `,mediajobs.dev/attempt=${attempt}`}`;

/** Points that a job reaches; each function returns whether it has. */
const POINTS = {
  'was accepted': () => Promise.resolve(true),
  'has a MediaJob': async (id: string) => (await phaseOf(id)) !== '',
  'has a pod': async (id: string) => (await podLines(id)) !== '',
  'is running': async (id: string) => / Running /.test(await podLines(id)),
  'has ended in the cluster': async (id: string) => /^(Succeeded|Failed)/.test(await phaseOf(id)),
} as const;
export type Point = keyof typeof POINTS;

export async function reach(id: string, point: Point): Promise<void> {
  await until(`${id}: ${point}`, 120, async () => ((await POINTS[point](id)) ? true : null));
}

export async function untilAttemptRuns(id: string, attempt: number): Promise<void> {
  await until(`attempt ${attempt} of ${id} to run`, 120, async () =>
    / Running /.test(await podLines(id, attempt)) ? true : null,
  );
}

/** Returns the job's attempt from PostgreSQL. */
export async function attemptOf(id: string): Promise<number> {
  const [row] = await sql<{ attempt: number }>(`select attempt from jobs where id = '${id}'`);
  return row?.attempt ?? 0;
}

/** Returns the messages of the events of its MediaJob. */
export function eventMessagesOf(id: string): Promise<string> {
  const selector = `involvedObject.name=${mediaJobName(id)}`;
  return kubectl('get', 'events', '--field-selector', selector, '--output', 'jsonpath={..message}');
}

/** Returns the phase of its MediaJob; empty when there is none. */
export function phaseOf(id: string): Promise<string> {
  const shown = 'jsonpath={.metadata.name}{.status.phase}';
  return kubectl('get', 'mediajob', mediaJobName(id), '--ignore-not-found', '--output', shown).then(
    (text) => text.slice(mediaJobName(id).length) || (text === '' ? '' : 'Pending'),
  );
}

function podLines(id: string, attempt?: number): Promise<string> {
  return kubectl('get', 'pods', '--no-headers', '--selector', podsOfJob(id, attempt));
}
