import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { finishJob, type Ending, type FinishDeps } from '#api/jobs/finish-job.ts';
import { markUploadDue, recordProgress, setDispatches } from '#api/jobs/job-progress-rows.ts';
import { isUnfinished, type Job } from '#api/jobs/job.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { sealUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { newId } from '#crds/contract/ids.ts';
import { testDatabase } from '#test/support/database.ts';
import { buildAccount, buildJob, buildReport, readJob } from '#test/support/job-builder.ts';

const NOW = new Date('2026-01-01T12:00:00Z');
const database = await testDatabase();
const account = await buildAccount(database);
const key = { id: 'k1', key: Buffer.alloc(32, 7) };
const deps: FinishDeps = {
  database,
  clock: { now: () => NOW },
  newId,
  secretBox: makeSecretBox([key]),
  baseUrl: 'https://media.test',
  linkKeys: [key],
};

type JobAction =
  | { readonly do: 'dispatch'; readonly dispatch: string }
  | {
      readonly do: 'progress';
      readonly dispatch: string;
      readonly attempt: number;
      readonly percent: number;
      readonly heard: boolean;
    }
  | { readonly do: 'upload'; readonly dispatch: string; readonly attempt: number }
  | { readonly do: 'succeed' | 'fail'; readonly dispatch: string; readonly attempt: number }
  | { readonly do: 'give up' | 'cancel' };

/** What a reader of the rows may rely on. */
interface Model {
  readonly status: Job['status'];
  readonly attempt: number;
  readonly percent: number;
  readonly dispatch: string | null;
  readonly isUploading: boolean;
}

const dispatch = fc.constantFrom('n1', 'n2');
const attempt = fc.integer({ min: 1, max: 3 });
const step: fc.Arbitrary<JobAction> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('dispatch' as const), dispatch }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('progress' as const),
      dispatch,
      attempt,
      percent: fc.integer({ min: 0, max: 99 }),
      heard: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('upload' as const), dispatch, attempt }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('succeed' as const, 'fail' as const), dispatch, attempt }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('give up' as const, 'cancel' as const) }) },
);

function after(model: Model, taken: JobAction): Model {
  if (!isUnfinished(model)) return model;
  switch (taken.do) {
    case 'dispatch':
      return model.isUploading ? model : { ...model, dispatch: taken.dispatch };
    case 'progress': {
      if (model.isUploading || !isCurrent(model, taken)) return model;
      const percent = Math.max(model.percent, taken.percent);
      return { ...model, attempt: taken.attempt, percent, status: taken.heard ? 'processing' : model.status };
    }
    case 'upload': {
      if (model.isUploading || !isCurrent(model, taken)) return model;
      const percent = Math.max(model.percent, 95);
      return { ...model, status: 'processing', attempt: taken.attempt, percent, isUploading: true };
    }
    case 'succeed':
      return isCurrent(model, taken) ? { ...model, status: 'succeeded', attempt: taken.attempt, percent: 100 } : model;
    case 'fail':
      return isCurrent(model, taken) ? { ...model, status: 'failed', attempt: taken.attempt } : model;
    case 'give up':
      return { ...model, status: 'failed' };
    case 'cancel':
      return { ...model, status: 'canceled' };
  }
}

const isCurrent = (model: Model, report: { dispatch: string; attempt: number }): boolean =>
  report.dispatch === model.dispatch && report.attempt >= model.attempt;

async function take(job: Job, taken: JobAction): Promise<void> {
  const own = { id: job.id, dispatch: 'dispatch' in taken ? taken.dispatch : '' };
  switch (taken.do) {
    case 'dispatch':
      await setDispatches(database, new Map([[job, taken.dispatch]]));
      return;
    case 'progress':
      await recordProgress(database, own, {
        attempt: taken.attempt,
        disruptions: 0,
        percent: taken.percent,
        startedAt: taken.heard ? NOW : null,
      });
      return;
    case 'upload':
      await markUploadDue(database, own, {
        attempt: taken.attempt,
        startedAt: NOW,
        outputKey: 'outputs/x',
        report: buildReport(),
      });
      return;
    case 'succeed':
    case 'fail':
    case 'give up':
    case 'cancel':
      await finishJob(deps, job.id, endingOf(taken));
  }
}

function endingOf(taken: Exclude<JobAction, { do: 'dispatch' | 'progress' | 'upload' }>): Ending {
  const error = { code: 'internal', message: 'lost' } as const;
  switch (taken.do) {
    case 'succeed':
      return { kind: 'succeeded', fence: taken, startedAt: NOW, report: buildReport(), outputKey: 'outputs/x' };
    case 'fail':
      return { kind: 'failed', fence: taken, error };
    case 'give up':
      return { kind: 'failed', fence: null, error };
    case 'cancel':
      return { kind: 'canceled' };
  }
}

const modelOf = ({ status, attempt: number, percent, dispatch: nonce, outputUpload }: Job): Model => ({
  status,
  attempt: number,
  percent,
  dispatch: nonce,
  isUploading: outputUpload === 'due',
});

async function traces(id: string): Promise<{ ledger: number; events: number }> {
  const count = async (sql: string): Promise<number> =>
    (await database.query<{ n: number }>(sql, [id])).rows[0]?.n ?? 0;
  return {
    ledger: await count('select count(*)::int as n from ledger where source_id = $1'),
    events: await count('select count(*)::int as n from webhook_deliveries where job_id = $1'),
  };
}

async function jobWithWebhook(): Promise<Job> {
  const id = newId('job');
  const webhookUrl = sealUrl(deps.secretBox, 'https://hooks.test/a', urlContext.job(id));
  return buildJob(database, account.id, { id, webhookUrl });
}

describe("a job's row, whatever reports come in whatever order,", () => {
  it('follows the model: one end, no attempt or percent that falls, one ledger row and one event', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const made = await jobWithWebhook();
        let model = modelOf(made);
        for (const taken of steps) {
          const before = await readJob(database, made.id);
          await take(before, taken);
          const row = await readJob(database, made.id);
          model = after(model, taken);
          expect({ ...modelOf(row), isUploading: isUnfinished(row) && row.outputUpload === 'due' }).toEqual({
            ...model,
            isUploading: isUnfinished(model) && model.isUploading,
          });
          expect(row.attempt).toBeGreaterThanOrEqual(before.attempt);
          if (!isUnfinished(before)) expect(row).toEqual(before);
        }
        const ended = isUnfinished(model) ? 0 : 1;
        expect(await traces(made.id)).toEqual({ ledger: ended, events: ended });
      }),
      { numRuns: 100 },
    );
  }, 120_000);

  it('ends once when every end comes at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
        const made = await jobWithWebhook();
        await setDispatches(database, new Map([[made, 'n1']]));
        const current = await readJob(database, made.id);
        await Promise.all(
          [...steps, { do: 'cancel' } as const, { do: 'succeed', dispatch: 'n1', attempt: 3 } as const].map((taken) =>
            take(current, taken),
          ),
        );
        expect(isUnfinished(await readJob(database, made.id))).toBe(false);
        expect(await traces(made.id)).toEqual({ ledger: 1, events: 1 });
      }),
      { numRuns: 50 },
    );
  }, 120_000);
});
