import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#crds/process/clock.ts';
import { Watchers } from '#crds/process/watchers.ts';
import { deliverEvent } from '#crds/media-jobs/deliver-event.ts';
import type { MediaJobClient, MediaJobEvent, NewMediaJob, StoredInput } from '#crds/media-jobs/media-job-client.ts';
import {
  jobTicketSchema,
  mayFollow,
  mediaJobSpecSchema,
  mediaJobStatusSchema,
  type JobTicket,
  type MediaJob,
  type MediaJobStatus,
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
 * MediaJobs in this process's memory, for one machine without Kubernetes. Refuses what the CRD's schema and rules
 * refuse. All returned objects are frozen, so that no reader changes those of others.
 */
export class MemoryMediaJobs implements MediaJobClient {
  readonly #deps: MemoryMediaJobsDeps;
  readonly #stored = new Map<string, Stored>();
  readonly #watchers = new Watchers<MediaJobEvent>();
  #version = 0;

  constructor(deps: MemoryMediaJobsDeps) {
    this.#deps = deps;
  }

  async create(request: NewMediaJob): ReturnType<MediaJobClient['create']> {
    if (this.#stored.has(request.name)) return 'exists';
    this.#store(newMediaJob(this.#deps, request), jobTicketSchema.parse(request.ticket));
    return 'created';
  }

  async get(name: string): Promise<MediaJob | null> {
    return this.#stored.get(name)?.mediaJob ?? null;
  }

  async isUnclaimed(): Promise<boolean> {
    return false;
  }

  async claim(): Promise<void> {}

  async list(): Promise<readonly MediaJob[]> {
    return [...this.#stored.values()].map(({ mediaJob }) => mediaJob);
  }

  async ticket(name: string): Promise<JobTicket | null> {
    return this.#stored.get(name)?.ticket ?? null;
  }

  async resume(name: string, { inputSize, kind, ...input }: StoredInput): Promise<boolean> {
    const found = this.#stored.get(name);
    if (found === undefined) return false;
    if (!found.mediaJob.spec.suspend) return true;
    const spec = mediaJobSpecSchema.parse({ ...found.mediaJob.spec, inputSize, kind, suspend: false });
    this.#store({ ...found.mediaJob, spec }, jobTicketSchema.parse({ ...found.ticket, ...input }));
    return true;
  }

  async updateStatus({ metadata }: MediaJob, status: MediaJobStatus): ReturnType<MediaJobClient['updateStatus']> {
    const found = this.#stored.get(metadata.name);
    if (found === undefined || found.mediaJob.metadata.uid !== metadata.uid) return 'deleted';
    if (found.mediaJob.metadata.resourceVersion !== metadata.resourceVersion) return 'conflict';
    const next = mediaJobStatusSchema.parse(status);
    if (isDeepStrictEqual(found.mediaJob.status, next)) return 'updated';
    if (!mayFollow(found.mediaJob.status, next)) return 'conflict';
    this.#store({ ...found.mediaJob, status: next }, found.ticket);
    return 'updated';
  }

  async delete(name: string): Promise<void> {
    const found = this.#stored.get(name);
    if (found === undefined) return;
    this.#stored.delete(name);
    this.#watchers.notify({ type: 'deleted', mediaJob: found.mediaJob });
  }

  watch(onEvent: (event: MediaJobEvent) => void, signal: AbortSignal): void {
    const onError = this.#deps.onWatcherError ?? warn;
    const watcher = (event: MediaJobEvent): void => deliverEvent(event, { onEvent, signal, onError });
    this.#watchers.add(watcher, signal);
    for (const { mediaJob } of this.#stored.values()) watcher({ type: 'applied', mediaJob });
  }

  #store(mediaJob: MediaJob, ticket: JobTicket): void {
    this.#version += 1;
    const next = freeze({ ...mediaJob, metadata: { ...mediaJob.metadata, resourceVersion: String(this.#version) } });
    this.#stored.set(next.metadata.name, { mediaJob: next, ticket: freeze(ticket) });
    this.#watchers.notify({ type: 'applied', mediaJob: next });
  }
}

function newMediaJob(deps: MemoryMediaJobsDeps, request: NewMediaJob): MediaJob {
  return {
    metadata: {
      name: request.name,
      uid: deps.newUid(),
      resourceVersion: '0',
      creationTimestamp: deps.clock.now().toISOString(),
      labels: request.labels,
      ...(request.annotations && { annotations: request.annotations }),
    },
    spec: mediaJobSpecSchema.parse(request.spec),
  };
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
