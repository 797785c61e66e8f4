import type { JobTicket, MediaJob, MediaJobSpec, MediaJobStatus } from '#crds/contract/media-job.ts';

export interface NewMediaJob {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec: MediaJobSpec;
  readonly ticket: JobTicket;
}

/** Input of a suspended MediaJob, after it was fetched and stored. */
export interface StoredInput {
  readonly inputSize: number;
  readonly inputEtag: string;
  readonly filename: string | null;
  readonly kind: MediaJobSpec['kind'];
}

export type MediaJobEvent =
  | { readonly type: 'applied'; readonly mediaJob: MediaJob }
  | { readonly type: 'deleted'; readonly mediaJob: MediaJob };

/**
 * Storage of MediaJobs: a Kubernetes API server or this process's memory. Both implementations pass
 * `test/contract/media-job-client.ts`. Events are hints: a reader always reads again.
 */
export interface MediaJobClient {
  /** Creates the MediaJob and its Secret. A name that exists already is success: 'exists'. */
  create(mediaJob: NewMediaJob): Promise<'created' | 'exists'>;
  get(name: string): Promise<MediaJob | null>;
  /** Returns whether a MediaJob of that name exists that an earlier version has made without the label of an installation. */
  isUnclaimed(name: string): Promise<boolean>;
  /** Labels the MediaJobs of an earlier version that are this installation's. */
  claim(isOwn: (mediaJob: MediaJob) => Promise<boolean>): Promise<void>;
  /** Returns all MediaJobs as last seen. */
  list(): Promise<readonly MediaJob[]>;
  /** Returns the ticket in the job's Secret; null when the Secret does not exist. */
  ticket(name: string): Promise<JobTicket | null>;
  /** Ends a suspension: completes spec and Secret with the stored input. Returns false when the MediaJob is missing. */
  resume(name: string, input: StoredInput): Promise<boolean>;
  /**
   * Replaces `status` when the MediaJob still has that resourceVersion.
   * 'conflict': read again; 'deleted': it no longer exists. Refuses to leave a final phase or to lower `attempt` ('conflict').
   */
  updateStatus(mediaJob: MediaJob, status: MediaJobStatus): Promise<'updated' | 'conflict' | 'deleted'>;
  /**
   * Deletes MediaJob, Secret and the objects that they own. Does nothing when it is missing. `unexpected`: sentence in
   * an event, for people who created the MediaJob manually.
   */
  delete(name: string, unexpected?: string): Promise<void>;
  /** Calls `onEvent` for every existing MediaJob and every change, until the signal aborts. */
  watch(onEvent: (event: MediaJobEvent) => void, signal: AbortSignal): void;
}
