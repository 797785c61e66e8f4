/** The contract between the pipeline and the handlers of each kind of file. */
import type { Format, Kind } from '#crds/catalogue/formats.ts';
import type { WorkOrder } from '#crds/contract/work-order.ts';
import type { WrittenFile } from '#worker-image/engine/written-file.ts';
import type { RunCommand, ToolResult } from '#worker-image/tools/run-command.ts';

/** The type of a file, as found by `identify`. */
export interface Identified {
  readonly kind: Kind;
  readonly format: Format;
  /** Set when the content and the file name disagree: the content decides. */
  readonly warning: string | null;
}

/** One file to be processed. Paths are inside the file's private directory, with fixed names. */
export interface Work extends Pick<WorkOrder, 'operation' | 'options' | 'limits' | 'filename'> {
  readonly input: Identified & { readonly path: string; readonly size: number };
  /** Private empty directory; the handler may create any file in it and need not remove any. */
  readonly directory: string;
}

/** A tool that was started before its file is known. */
export interface PreparedTool {
  /** Name of the tool. */
  readonly file: string;
  /** Kinds of the files that it serves. */
  readonly kinds: readonly Kind[];
  /** Returns whether it can serve further files of the same process: it runs, and has no files in its folder. */
  readonly isReusable: () => boolean;
  /** Returns whether it has ended by itself: what a file has started may still run. */
  readonly hasFailed: () => boolean;
  /**
   * Sends a request, one at a time, and waits for its end. Null when the tool has ended without a response.
   * @throws as `run` does.
   */
  readonly send: (request: string, signal: AbortSignal) => Promise<ToolResult | null>;
  /** Ends the tool and removes its files. */
  readonly end: () => Promise<void>;
}

/** Functions and signal that the pipeline provides to a handler. */
export interface EngineDeps {
  readonly run: RunCommand;
  /** Reports 0 to 100 percent of the handler's own work; may be called at any rate. */
  readonly onProgress: (percent: number) => void;
  /** Aborted on cancellation and at the time limit. */
  readonly signal: AbortSignal;
  /** Tool that the handler of the file's probable kind has prepared; absent when none has. */
  readonly prepared?: PreparedTool | null;
  /** The image was built without HEVC: H.265 is neither decoded nor encoded. */
  readonly withoutHevc?: boolean;
}

/** What a handler needs to start a tool before the file is known. */
export interface PrepareDeps {
  readonly run: RunCommand;
  /** Private folder for the tool's files, outside of the task's directory. */
  readonly folder: string;
}

/**
 * The facts of a file that limits, CPU budget and report are computed from. A kind adds its own and leaves out what
 * does not apply to it.
 */
export interface Facts {
  /** Pixels as shown, with the orientation applied. */
  readonly width?: number;
  readonly height?: number;
  /** Frames of an animated image, 1 for a still one. */
  readonly frames?: number;
  readonly pages?: number;
  readonly durationSeconds?: number;
  readonly videoCodec?: string;
  /** A defect of an input that is processed nevertheless, for the caller. */
  readonly warning?: string;
}

/** A produced file, in the work's directory. */
export interface Produced<OutputFacts extends Facts = Facts> {
  readonly path: string;
  readonly format: Format;
  readonly facts: OutputFacts;
  readonly warnings: readonly string[];
  /** Absent where the size was not counted as the file was written. */
  readonly written?: WrittenFile | undefined;
}

/**
 * The operations of one kind of file. Each throws MediaError for a file or option that it refuses; a missing one does
 * not apply to the kind. They are methods so that a handler of any `KindFacts` is a `KindHandler`: the pipeline passes
 * facts to the handler that returned them, and to no other.
 */
export interface KindHandler<KindFacts extends Facts = Facts, OutputFacts extends Facts = Facts> {
  /** Loads the modules that only some files need, for the compile cache. */
  loadAll?(): Promise<unknown>;
  /** Starts the tool that nearly every file of the kind needs. Null when it cannot. */
  prepare?(deps: PrepareDeps): Promise<PreparedTool | null>;
  /** Reads the facts, from headers where the format allows it, before anything is decoded. */
  inspect(deps: EngineDeps, work: Work): Promise<KindFacts>;
  /** Makes the file smaller; the pipeline keeps the original when the result is not. */
  compress?(deps: EngineDeps, work: Work, facts: KindFacts): Promise<Produced<OutputFacts>>;
  /** Converts to `work.options.convert.to`, which is in the kind's list of targets. */
  convert?(deps: EngineDeps, work: Work, facts: KindFacts): Promise<Produced<OutputFacts>>;
  stripMetadata?(deps: EngineDeps, work: Work, facts: KindFacts): Promise<Produced<OutputFacts>>;
  /**
   * Reopens the result and compares it with the input. The pipeline has compared it with what was written.
   * @throws Error that says what differs.
   */
  verify(deps: EngineDeps, work: Work, input: KindFacts, produced: Produced<OutputFacts>): Promise<void>;
}

/** A file within the limits, with the handler of its kind. */
export interface InspectedFile {
  readonly handler: KindHandler;
  readonly work: Work;
  readonly facts: Facts;
}

/** The verified result of an operation. */
export interface VerifiedOutput {
  readonly produced: Produced;
  readonly keptOriginal: boolean;
}
