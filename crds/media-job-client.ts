import type { JobTicket, MediaJob, MediaJobSpec, MediaJobStatus } from '#crds/media-job.ts';

export interface NewMediaJob {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: MediaJobSpec;
  readonly ticket: JobTicket;
}

export type MediaJobEvent =
  | { readonly type: 'applied'; readonly mediaJob: MediaJob }
  | { readonly type: 'deleted'; readonly mediaJob: MediaJob };

/**
 * Where MediaJobs live: a Kubernetes API server or this process's memory. Both implementations pass
 * `test/contract/media-job-client.ts`. Events are hints: a reader always reads again.
 */
export interface MediaJobClient {
  /** Creates the MediaJob and its Secret. A name that exists already is success: 'exists'. */
  create(mediaJob: NewMediaJob): Promise<'created' | 'exists'>;
  get(name: string): Promise<MediaJob | null>;
  /** All MediaJobs as last seen. */
  list(): Promise<readonly MediaJob[]>;
  /** The job's Secret; null when it does not exist. */
  ticket(name: string): Promise<JobTicket | null>;
  /** Lifts a suspension: completes spec and Secret with the stored input. false when the MediaJob is gone. */
  resume(
    name: string,
    input: {
      inputSize: number;
      inputUrl: string;
      inputEtag: string;
      filename: string | null;
      kind: MediaJobSpec['kind'];
    },
  ): Promise<boolean>;
  /**
   * Replaces `status` when the MediaJob still has that resourceVersion.
   * 'conflict': read again; 'gone': deleted. Refuses to leave a final phase or to lower `attempt` ('conflict').
   */
  updateStatus(mediaJob: MediaJob, status: MediaJobStatus): Promise<'updated' | 'conflict' | 'gone'>;
  /**
   * Deletes MediaJob and Secret; what is owned by them follows. No error when it is gone already. `unexpected`
   * is a sentence for whoever made it by hand and looks for it.
   */
  delete(name: string, unexpected?: string): Promise<void>;
  /** Calls back for every MediaJob that is there and for every change, until the signal aborts. */
  watch(onEvent: (event: MediaJobEvent) => void, signal: AbortSignal): void;
}
