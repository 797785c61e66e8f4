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
import { claimMediaJobs, projectMediaJob, type ProjectDeps } from '#api/recorder/project-media-job.ts';
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

type GivenDeps = Pick<
  ProjectDeps,
  'database' | 'files' | 'clock' | 'log' | 'mediaJobs' | 'heartbeatKey' | 'keepFinishedSeconds'
>;

interface RecorderDeps extends GivenDeps {
  readonly registry: Registry;
}

type RecorderConfig = Pick<
  Settings,
  'DATABASE_URL' | 'MEDIAJOBS_BASE_URL' | 'MEDIAJOBS_ENCRYPTION_KEYS' | 'MEDIAJOBS_LINK_KEYS' | 'MEDIAJOBS_OPEN_JOBS'
>;

/** Poll intervals of the loops, in milliseconds. */
const EVERY = { dispatch: 1000, sweep: 10_000, uploads: 3_600_000, urls: 3_600_000, records: 3_600_000 } as const;

/** Starts the loops, the watch of MediaJobs and the listener. `stop` resolves when running iterations have ended. */
export function startRecorder(
  { registry, ...given }: RecorderDeps,
  config: RecorderConfig,
): { stop: () => Promise<void> } {
  const { log } = given;
  const stopping = new AbortController();
  const deps: ProjectDeps = {
    ...given,
    newId,
    newNonce: () => nameWord(10),
    secretBox: makeSecretBox(config.MEDIAJOBS_ENCRYPTION_KEYS),
    baseUrl: config.MEDIAJOBS_BASE_URL,
    linkKeys: config.MEDIAJOBS_LINK_KEYS,
    maxUnfinishedJobs: config.MEDIAJOBS_OPEN_JOBS,
    ticketsSeen: new Map(),
    beingCreated: new Set(),
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
    everyMs: EVERY.dispatch,
    iterate: async () => {
      await settleTransfers(deps);
      await claimOnce();
      await dispatchJobs(deps);
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
    { url: config.DATABASE_URL, log },
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
