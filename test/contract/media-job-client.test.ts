import { randomUUID } from 'node:crypto';
import { MemoryMediaJobs } from '#crds/media-jobs/memory-media-jobs.ts';
import { systemClock } from '#crds/process/clock.ts';
import { describeMediaJobClient } from '#test/contract/media-job-client.ts';

describeMediaJobClient('in memory', async () => ({
  client: new MemoryMediaJobs({ clock: systemClock, newUid: randomUUID, onWatcherError: () => undefined }),
  close: async () => undefined,
}));
