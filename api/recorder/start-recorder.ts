/**
 * The recorder keeps PostgreSQL and the MediaJobs consistent. Events and notifications only trigger it sooner: every
 * action follows from the state that it reads, so it may be killed at any moment.
 */
import {
  deleteFiles,
  dropOutputParts,
  expireOutputs,
  expireUploads,
  failOverdueJobs,
  forgetOldRecords,
} from '#api/recorder/clean-up.ts';
import { dispatchJobs } from '#api/recorder/dispatch-jobs.ts';
import { CHANGES_CHANNEL } from '#api/store/changes-channel.ts';
import { projectMediaJob, type ProjectDeps } from '#api/recorder/project-media-job.ts';
import { settleTransfers } from '#api/recorder/settle-transfers.ts';
import { sealPlainUrls } from '#api/webhooks/seal-plain-urls.ts';
import { listen } from '#api/store/listen.ts';
import { isId } from '#crds/contract/ids.ts';
import type { QueueMetrics } from '#crds/kube/queue-metrics.ts';
import { WorkQueue } from '#crds/kube/work-queue.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { startLoop } from '#api/loops/loop.ts';

interface RecorderDeps extends Omit<ProjectDeps, 'ticketsSeen' | 'beingCreated'> {
  readonly databaseUrl: string;
  readonly queueMetrics: QueueMetrics;
}

/** Poll intervals of the loops, in milliseconds. */
const EVERY = { dispatch: 1000, sweep: 10_000, uploads: 3_600_000, urls: 3_600_000, records: 3_600_000 } as const;

/** Starts the loops, the watch of MediaJobs and the listener. `stop` resolves when running iterations have ended. */
export function startRecorder(deps: RecorderDeps): { stop: () => Promise<void> } {
  const { log } = deps;
  const stopping = new AbortController();
  const projectDeps: ProjectDeps = { ...deps, ticketsSeen: new Map(), beingCreated: new Set() };
  const queue = new WorkQueue(
    {
      handle: async (name) => {
        const seconds = await projectMediaJob(projectDeps, name);
        return seconds === null ? null : seconds * 1000;
      },
      onError: (error, name, retryMs) =>
        log.error({ err: error, name, retry_in_ms: retryMs }, 'projecting a MediaJob failed'),
      metrics: deps.queueMetrics,
    },
    { workers: 8, firstRetryMs: 100, lastRetryMs: 30_000 },
  );
  const dispatchLoop = startLoop(deps, {
    name: 'dispatch',
    everyMs: EVERY.dispatch,
    iterate: async () => {
      await settleTransfers(deps);
      await dispatchJobs(projectDeps);
      await deleteFiles(deps);
    },
  });
  const loops = [
    dispatchLoop,
    startLoop(deps, {
      name: 'sweep',
      everyMs: EVERY.sweep,
      iterate: async () => {
        for (const { metadata } of await deps.mediaJobs.list()) queue.add(metadata.name, 'sweep');
        await failOverdueJobs(deps);
        await expireOutputs(deps);
      },
    }),
    startLoop(deps, { name: 'urls', everyMs: EVERY.urls, iterate: () => sealPlainUrls(deps) }),
    startLoop(deps, { name: 'uploads', everyMs: EVERY.uploads, iterate: () => expireUploads(deps) }),
    startLoop(deps, {
      name: 'records',
      everyMs: EVERY.records,
      iterate: async () => {
        await forgetOldRecords(deps);
        await dropOutputParts(deps);
      },
    }),
  ];
  deps.mediaJobs.watch(({ mediaJob }) => queue.add(mediaJob.metadata.name), stopping.signal);
  const listening = listen(
    { url: deps.databaseUrl, log },
    {
      channel: CHANGES_CHANNEL,
      signal: stopping.signal,
      onHint: (payload) => {
        if (isId('job', payload)) queue.add(mediaJobName(payload));
        dispatchLoop.wake();
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
