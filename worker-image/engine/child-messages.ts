/** What an engine process and its owner say to each other over IPC. */
import type { ErrorCode } from '#crds/error-codes.ts';
import type { Kind } from '#crds/formats.ts';
import type { FileTask, ProcessedFile } from '#worker-image/engine/process-file.ts';

export type ToChild =
  | { readonly type: 'process'; readonly task: FileTask; readonly versions: Readonly<Record<string, string>> }
  /** A file that looks like one of the kind is on its way. */
  | { readonly type: 'expect'; readonly kind: Kind }
  | { readonly type: 'abort' };

export type FromChild =
  | { readonly type: 'progress'; readonly percent: number }
  /** A tool's process group begins or ends. Only told where the owner can name it by the same number. */
  | { readonly type: 'group'; readonly pid: number; readonly alive: boolean }
  /** `leftFiles`: something lies outside of the task's directory that did not before. */
  | { readonly type: 'done'; readonly file: ProcessedFile; readonly rssBytes: number; readonly leftFiles: boolean }
  | {
      readonly type: 'refused';
      readonly code: ErrorCode;
      readonly message: string;
      readonly param: string | null;
      readonly cause: string | null;
      readonly rssBytes: number;
    }
  /** The system killed a tool. */
  | { readonly type: 'killed'; readonly message: string }
  | { readonly type: 'bug'; readonly stack: string };

/** Argument that makes an engine process tell of its tools' process groups. */
export const TELL_GROUPS = '--tell-groups';
/** Argument that makes it look for files that its tools left in memory: where `/tmp` is its own. */
export const OWN_MEMORY = '--own-memory';
/** Argument that makes it load every module and end. */
export const WARM = '--warm';
