import type { Format, Kind, Operation } from '#crds/formats.ts';
import type { ResolvedOptions } from '#crds/options/options.ts';
import type { FileLimits } from '#crds/plans.ts';
import type { Probe } from '#worker-image/engine/media/probe.ts';
import type { RunCommand } from '#worker-image/tools/run-command.ts';

/** What identification found. */
export interface Identified {
  readonly kind: Kind;
  readonly format: Format;
  /** Set when the content and the file name disagree: the content won. */
  readonly warning: string | null;
}

/** One file in work. Paths are inside the file's private directory, with fixed names. */
export interface Work {
  readonly operation: Operation;
  readonly input: Identified & { readonly path: string; readonly size: number };
  /** Private and empty; the handler may make any file in it and need not remove any. */
  readonly directory: string;
  readonly options: ResolvedOptions;
  readonly limits: FileLimits;
}

/** What a handler may touch. */
export interface EngineDeps {
  readonly run: RunCommand;
  /** 0 to 100 of this handler's own work; may be called at any rate. */
  readonly onProgress: (percent: number) => void;
  /** Aborted on cancellation and at the time limit. */
  readonly signal: AbortSignal;
}

/** The facts of a file that guards check and verifiers compare. Null where it does not apply. */
export interface Facts {
  /** As shown: orientation applied. */
  readonly width: number | null;
  readonly height: number | null;
  /** Frames of an animated image, 1 for a still one. */
  readonly frames: number | null;
  readonly pages: number | null;
  readonly durationSeconds: number | null;
  readonly videoCodec: string | null;
  /** All that one reading of a video or audio file told, for the steps that follow. */
  readonly media: Probe | null;
  /** What is wrong with an input that is worked on nevertheless, for the caller. */
  readonly warning: string | null;
}

export const NO_FACTS: Facts = {
  width: null,
  height: null,
  frames: null,
  pages: null,
  durationSeconds: null,
  videoCodec: null,
  media: null,
  warning: null,
};

/** A produced file, in the work's directory. */
export interface Produced {
  readonly path: string;
  readonly format: Format;
  readonly facts: Facts;
  readonly warnings: readonly string[];
}

/**
 * What one kind of file can do. Each function throws MediaError for a file or option that it refuses.
 * A missing operation does not apply to the kind.
 */
export interface KindHandler {
  /** Loads what a first file would wait for. */
  prepare?(): Promise<unknown>;
  /** Reads the facts from headers, cheaply, before anything is decoded. */
  inspect(deps: EngineDeps, work: Work): Promise<Facts>;
  /** Makes it smaller; the pipeline keeps the original when the result is not. */
  readonly compress?: (deps: EngineDeps, work: Work, facts: Facts) => Promise<Produced>;
  /** `work.options.convert.to` is in the kind's list of targets. */
  readonly convert?: (deps: EngineDeps, work: Work, facts: Facts) => Promise<Produced>;
  readonly stripMetadata?: (deps: EngineDeps, work: Work, facts: Facts) => Promise<Produced>;
  /** Reopens the result and compares it with the input; throws a plain Error that says what differs. */
  verify(deps: EngineDeps, work: Work, input: Facts, produced: Produced): Promise<void>;
}
