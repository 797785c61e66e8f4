import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#crds/process/clock.ts';
import { Watchers } from '#crds/process/watchers.ts';
import type { MediaJobClient, MediaJobEvent, NewMediaJob } from '#crds/media-jobs/media-job-client.ts';
import {
  jobTicketSchema,
  mayFollow,
  mediaJobSpecSchema,
  mediaJobStatusSchema,
  type JobTicket,
  type MediaJob,
} from '#crds/contract/media-job.ts';

interface MemoryMediaJobsDeps {
  readonly clock: Clock;
  /** Returns a unique id. */
  readonly newUid: () => string;
  /** Called with the error of a watcher; default: a process warning. The watch continues. */
  readonly onWatcherError?: (error: unknown) => void;
}

interface Stored {
  readonly mediaJob: MediaJob;
  readonly ticket: JobTicket;
}

/**
 * Creates a client of MediaJobs in this process's memory, for one machine without Kubernetes. It refuses what the CRD's
 * schema and rules refuse. All returned objects are frozen, so that no reader changes those of others.
 */
export function makeMemoryMediaJobs(deps: MemoryMediaJobsDeps): MediaJobClient {
  const stored = new Map<string, Stored>();
  const watchers = new Watchers<MediaJobEvent>();
  let version = 0;

  const store = (mediaJob: MediaJob, ticket: JobTicket): void => {
    version += 1;
    const next = freeze({ ...mediaJob, metadata: { ...mediaJob.metadata, resourceVersion: String(version) } });
    stored.set(next.metadata.name, { mediaJob: next, ticket: freeze(ticket) });
    watchers.notify({ type: 'applied', mediaJob: next });
  };

  return {
    async create(request) {
      if (stored.has(request.name)) return 'exists';
      store(newMediaJob(deps, request), jobTicketSchema.parse(request.ticket));
      return 'created';
    },
    async get(name) {
      return stored.get(name)?.mediaJob ?? null;
    },
    async list() {
      return [...stored.values()].map(({ mediaJob }) => mediaJob);
    },
    async ticket(name) {
      return stored.get(name)?.ticket ?? null;
    },
    async resume(name, { inputSize, kind, ...input }) {
      const found = stored.get(name);
      if (found === undefined) return false;
      if (!found.mediaJob.spec.suspend) return true;
      const spec = mediaJobSpecSchema.parse({ ...found.mediaJob.spec, inputSize, kind, suspend: false });
      store({ ...found.mediaJob, spec }, jobTicketSchema.parse({ ...found.ticket, ...input }));
      return true;
    },
    async updateStatus({ metadata }, status) {
      const found = stored.get(metadata.name);
      if (found === undefined || found.mediaJob.metadata.uid !== metadata.uid) return 'gone';
      if (found.mediaJob.metadata.resourceVersion !== metadata.resourceVersion) return 'conflict';
      const next = mediaJobStatusSchema.parse(status);
      if (isDeepStrictEqual(found.mediaJob.status, next)) return 'updated';
      if (!mayFollow(found.mediaJob.status, next)) return 'conflict';
      store({ ...found.mediaJob, status: next }, found.ticket);
      return 'updated';
    },
    async delete(name) {
      const found = stored.get(name);
      if (found === undefined) return;
      stored.delete(name);
      watchers.notify({ type: 'deleted', mediaJob: found.mediaJob });
    },
    watch(onEvent, signal) {
      if (signal.aborted) return;
      const watcher = (event: MediaJobEvent): void => queueMicrotask(() => deliver(deps, { event, onEvent, signal }));
      watchers.add(watcher, signal);
      for (const { mediaJob } of stored.values()) watcher({ type: 'applied', mediaJob });
    },
  };
}

function newMediaJob(deps: MemoryMediaJobsDeps, request: NewMediaJob): MediaJob {
  return {
    metadata: {
      name: request.name,
      uid: deps.newUid(),
      resourceVersion: '0',
      creationTimestamp: deps.clock.now().toISOString(),
      labels: request.labels,
    },
    spec: mediaJobSpecSchema.parse(request.spec),
  };
}

function deliver(
  deps: MemoryMediaJobsDeps,
  { event, onEvent, signal }: { event: MediaJobEvent; onEvent: (event: MediaJobEvent) => void; signal: AbortSignal },
): void {
  if (signal.aborted) return;
  try {
    onEvent(event);
  } catch (error) {
    (deps.onWatcherError ?? warn)(error);
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}

/** Returns a frozen copy. */
function freeze<T extends object>(value: T): T {
  return deepFreeze(structuredClone(value));
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
