/**
 * The recorder keeps PostgreSQL and the MediaJobs consistent. Events and notifications only trigger it sooner: every
 * action follows from the state that it reads, so it may be killed at any moment.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  deleteFiles,
  dropOutputParts,
  expireOutputs,
  expireUploads,
  failOverdueJobs,
  forgetOldRecords,
} from '#api/recorder/clean-up.ts';
import { makeJobMetrics } from '#api/recorder/job-metrics.ts';
import { dispatchJobs } from '#api/recorder/dispatch-jobs.ts';
import { CHANGES_CHANNEL } from '#api/store/changes-channel.ts';
import { makeJobReader } from '#api/jobs/job-reader.ts';
import type { FileStore } from '#api/files/file-store.ts';
import {
  claimMediaJobs,
  mediaJobsToProject,
  projectMediaJob,
  type ProjectDeps,
} from '#api/recorder/project-media-job.ts';
import { traceJob } from '#api/jobs/trace-job.ts';
import { settleTransfers } from '#api/recorder/settle-transfers.ts';
import { sealPlainUrls } from '#api/webhooks/seal-plain-urls.ts';
import { listen } from '#api/store/listen.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import type { Registry } from 'prom-client';
import type { Settings } from '#crds/process/settings.ts';
import { isId, nameWord, newId } from '#crds/contract/ids.ts';
import { makeQueueMetrics } from '#crds/kube/queue-metrics.ts';
import { WorkQueue } from '#crds/kube/work-queue.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { startLoop } from '#api/loops/loop.ts';

interface RecorderDeps extends Pick<
  ProjectDeps,
  'database' | 'clock' | 'log' | 'tracing' | 'mediaJobs' | 'heartbeatKey' | 'keepFinishedSeconds'
> {
  readonly files: FileStore;
  readonly registry: Registry;
}

type RecorderConfig = Pick<
  Settings,
  'DATABASE_URL' | 'MEDIAJOBS_BASE_URL' | 'MEDIAJOBS_ENCRYPTION_KEYS' | 'MEDIAJOBS_LINK_KEYS' | 'MEDIAJOBS_OPEN_JOBS'
>;

/** Poll intervals of the loops, in milliseconds. */
const EVERY = { poll: 1000, sweep: 10_000, uploads: 3_600_000, urls: 3_600_000, records: 3_600_000 } as const;

/** Starts the loops, the watch of MediaJobs and the listener. `stop` resolves when running iterations have ended. */
export function startRecorder(
  { registry, ...given }: RecorderDeps,
  config: RecorderConfig,
): { stop: () => Promise<void> } {
  const { log, tracing } = given;
  const metrics = makeJobMetrics(given, registry);
  const stopping = new AbortController();
  const deps: ProjectDeps & Pick<RecorderDeps, 'files'> = {
    ...given,
    newId,
    newNonce: () => nameWord(10),
    secretBox: makeSecretBox(config.MEDIAJOBS_ENCRYPTION_KEYS),
    baseUrl: config.MEDIAJOBS_BASE_URL,
    linkKeys: config.MEDIAJOBS_LINK_KEYS,
    maxUnfinishedJobs: config.MEDIAJOBS_OPEN_JOBS,
    readJob: makeJobReader(given.database),
    ticketsSeen: new Map(),
    beingCreated: new Set(),
    onJobEnded: (job) => {
      metrics.ended(job);
      traceJob(tracing, job);
    },
  };
  const queue = new WorkQueue(
    {
      handle: async (name) => {
        const seconds = await projectMediaJob(deps, name);
        return seconds === null ? null : seconds * 1000;
      },
      onError: (error, name, retryMs) =>
        log.error({ err: error, name, retry_in_ms: retryMs }, 'projecting a MediaJob failed'),
      metrics: makeQueueMetrics(registry, 'recorder'),
    },
    { workers: 8, firstRetryMs: 100, lastRetryMs: 30_000 },
  );
  let isClaimed = false;
  const claimOnce = async (): Promise<void> => {
    if (!isClaimed) await claimMediaJobs(deps);
    isClaimed = true;
  };
  const dispatchLoop = startLoop(deps, {
    name: 'dispatch',
    everyMs: EVERY.poll,
    iterate: async () => {
      await claimOnce();
      const startedAt = performance.now();
      await dispatchJobs(deps);
      // Every new job wakes it, and its time grows with the number of jobs: it works half of the time at most.
      await delay(performance.now() - startedAt);
    },
  });
  const settleLoop = startLoop(deps, {
    name: 'settle',
    everyMs: EVERY.poll,
    iterate: () => settleTransfers({ ...deps, onSettled: (jobId) => queue.add(mediaJobName(jobId)) }),
  });
  // Wakes only the loops that the notification concerns.
  const onNotification = async (payload: string): Promise<void> => {
    const name = isId('job', payload) ? mediaJobName(payload) : null;
    const isKnown = name !== null && (await deps.mediaJobs.get(name)) !== null;
    if (isKnown) queue.add(name);
    // A job without a MediaJob is new; one with a MediaJob was canceled, or its transfer has ended.
    if (!isKnown) dispatchLoop.wake();
    if (isKnown || name === null) settleLoop.wake();
  };
  const loops = [
    dispatchLoop,
    settleLoop,
    startLoop(deps, { name: 'deletions', everyMs: EVERY.poll, iterate: () => deleteFiles(deps) }),
    startLoop(deps, {
      name: 'sweep',
      everyMs: EVERY.sweep,
      iterate: async () => {
        for (const name of await mediaJobsToProject(deps)) queue.add(name, 'sweep');
      },
    }),
    startLoop(deps, { name: 'overdue', everyMs: EVERY.sweep, iterate: () => failOverdueJobs(deps) }),
    startLoop(deps, { name: 'outputs', everyMs: EVERY.sweep, iterate: () => expireOutputs(deps) }),
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
    { url: config.DATABASE_URL, log },
    {
      channel: CHANGES_CHANNEL,
      signal: stopping.signal,
      onNotification: (payload) => void onNotification(payload).catch(() => dispatchLoop.wake()),
    },
  );
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([listening, queue.stop(), ...loops.map((loop) => loop.stop())]);
    },
  };
}
