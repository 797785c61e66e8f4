/**
 * The recorder: keeps PostgreSQL and the MediaJobs together. Events and notifications only make it look
 * sooner; what it does follows from what it reads, so it may be killed at any moment.
 */
import {
  deleteFiles,
  dropOutputParts,
  expireOutputs,
  expireUploads,
  failOverdueJobs,
  forgetOldRecords,
} from '#api/jobs/clean-up.ts';
import { dispatchJobs } from '#api/jobs/dispatch-jobs.ts';
import { JOBS_CHANNEL } from '#api/jobs/jobs-channel.ts';
import { projectMediaJob, type ProjectDeps } from '#api/jobs/project-media-job.ts';
import { settleTransfers } from '#api/jobs/settle-transfers.ts';
import { listen } from '#api/store/listen.ts';
import { isId } from '#crds/ids.ts';
import type { QueueMetrics } from '#crds/kube/queue-metrics.ts';
import { makeWorkQueue } from '#crds/kube/work-queue.ts';
import { mediaJobName } from '#crds/names.ts';
import { startLoop } from '#crds/shared/loop.ts';

interface RecorderDeps extends Omit<ProjectDeps, 'ticketsSeen' | 'inTheMaking'> {
  readonly databaseUrl: string;
  readonly queueMetrics: QueueMetrics;
}

/** Milliseconds between turns when nothing wakes them. */
const EVERY = { dispatch: 1000, sweep: 10_000, uploads: 3_600_000, records: 3_600_000 } as const;

export function startRecorder(deps: RecorderDeps): { stop: () => Promise<void> } {
  const { log } = deps;
  const stopping = new AbortController();
  const projectDeps: ProjectDeps = { ...deps, ticketsSeen: new Map(), inTheMaking: new Set() };
  const queue = makeWorkQueue(
    {
      handle: async (name) => {
        const seconds = await projectMediaJob(projectDeps, name);
        return seconds === null ? null : seconds * 1000;
      },
      onError: (error, name, retryMs) => log.error({ err: error, name, retry_ms: retryMs }, 'projecting failed'),
      metrics: deps.queueMetrics,
    },
    { workers: 8, firstRetryMs: 100, lastRetryMs: 30_000 },
  );
  const loops = [
    startLoop(deps, {
      name: 'dispatch',
      everyMs: EVERY.dispatch,
      turn: async () => {
        await settleTransfers(deps);
        await dispatchJobs(projectDeps);
        await deleteFiles(deps);
      },
    }),
    startLoop(deps, {
      name: 'sweep',
      everyMs: EVERY.sweep,
      turn: async () => {
        for (const { metadata } of await deps.mediaJobs.list()) queue.add(metadata.name, 'sweep');
        await failOverdueJobs(deps);
        await expireOutputs(deps);
      },
    }),
    startLoop(deps, { name: 'uploads', everyMs: EVERY.uploads, turn: () => expireUploads(deps) }),
    startLoop(deps, {
      name: 'records',
      everyMs: EVERY.records,
      turn: async () => {
        await forgetOldRecords(deps);
        await dropOutputParts(deps);
      },
    }),
  ];
  deps.mediaJobs.watch(({ mediaJob }) => queue.add(mediaJob.metadata.name), stopping.signal);
  const listening = listen(
    { url: deps.databaseUrl, log },
    {
      channel: JOBS_CHANNEL,
      signal: stopping.signal,
      onHint: (payload) => {
        if (isId('job', payload)) queue.add(mediaJobName(payload));
        loops[0]?.wake();
      },
    },
  );
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([listening, queue.stop(), ...loops.map((loop) => loop.stop())]);
    },
  };
}
