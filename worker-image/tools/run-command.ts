/** The only place that starts a tool. */

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  /** Private directory: working directory, HOME and TMPDIR of the tool. */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Wall clock. */
  readonly timeoutSeconds: number;
  /** Added to the minimal environment (PATH, HOME, TMPDIR, LANG). */
  readonly env?: Readonly<Record<string, string>>;
  /** Called with each line of standard output. */
  readonly onLine?: (line: string) => void;
  /** Cap of any file that the tool writes (RLIMIT_FSIZE). */
  readonly maxFileBytes?: number;
}

export interface CommandResult {
  /** Exit code; a signal n reads as 128 + n. */
  readonly exitCode: number;
  /** The first 64 KiB each. */
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a tool to its end. Does not throw for a non-zero exit code: exit codes lie, the caller looks at the output. */
export type RunCommand = (command: Command) => Promise<CommandResult>;
