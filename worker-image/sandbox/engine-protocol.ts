/** Messages between an engine process and its owner: JSON, one message per line, over one socket pair. */
import type { Kind } from '#crds/catalogue/formats.ts';
import type { WorkerReport } from '#crds/contract/media-job.ts';
import type { FileTask } from '#worker-image/engine/process-file.ts';
import type { EngineErrorCode } from '#worker-image/sandbox/engine-error-codes.ts';

export type ToChild =
  | { readonly type: 'process'; readonly task: FileTask; readonly versions: Readonly<Record<string, string>> }
  /** Announces the probable kind of the next file. */
  | { readonly type: 'expect'; readonly kind: Kind }
  | { readonly type: 'abort' };

export type FromChild =
  /** Whole percents, each higher than the one before. */
  | { readonly type: 'progress'; readonly percent: number }
  /** The file is identified and inspected: the CPU time that it may use, in seconds. At most once for a file. */
  | { readonly type: 'budget'; readonly cpuSeconds: number }
  /**
   * The output is the file `OUTPUT_NAME` in the task's directory, or the input where the report says that the original
   * is kept. `mustBeReplaced`: the process must not open another file, because there are new files outside of the task's
   * directory or its prepared tool ended by itself.
   */
  | {
      readonly type: 'done';
      readonly report: WorkerReport;
      readonly rssBytes: number;
      readonly mustBeReplaced: boolean;
    }
  | {
      readonly type: 'refused';
      readonly code: EngineErrorCode;
      readonly message: string;
      readonly param: string | null;
      readonly cause: string | null;
      readonly rssBytes: number;
    }
  /** The system killed a tool. */
  | { readonly type: 'killed'; readonly message: string }
  | { readonly type: 'bug'; readonly stack: string };

/** File descriptor of the socket pair in an engine process. */
export const CHANNEL = 3;
/** Name of the output in the task's directory: a fixed one, so that an engine process names no path to its owner. */
export const OUTPUT_NAME = 'output';
/** Largest message of an engine process, in bytes. */
export const MESSAGE_BYTES = 64 * 1024;
/** Maximum length of the texts in a message, in characters. */
export const TEXT_CHARACTERS = { message: 1000, param: 200, cause: 8000 } as const;

/** Argument that makes an engine process look for files that its tools left in its private `/tmp` and `/dev/shm`. */
export const OWN_MEMORY = '--own-memory';
/** Argument that makes a process load every module and exit, so that the compile cache holds them. */
export const WARM = '--warm';
