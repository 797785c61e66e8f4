/**
 * Runs ffmpeg and ffprobe on files. `run` starts the processes, as for every tool. Why fluent-ffmpeg does not:
 * hack/decisions/0038-ffmpeg-without-fluent-ffmpeg.md.
 *
 * Every input is opened with the demuxer of its identified format, and only files may be opened: a playlist disguised
 * as a video cannot open other files or addresses.
 */
import type { Format } from '#crds/catalogue/formats.ts';
import { ffmpegEnvironment } from '#worker-image/tools/ffmpeg-libraries.ts';
import type { ToolResult, RunCommand } from '#worker-image/tools/run-command.ts';

/** Demuxers that may open each input format: one, or two between which the content decides. */
const DEMUXERS = {
  mp4: 'mov',
  mov: 'mov',
  m4v: 'mov',
  '3gp': 'mov',
  m4a: 'mov',
  alac: 'mov',
  mkv: 'matroska',
  webm: 'matroska',
  avi: 'avi',
  flv: 'flv',
  wmv: 'asf',
  wma: 'asf',
  mpg: 'mpeg,mpegvideo',
  mp3: 'mp3',
  aac: 'aac',
  wav: 'wav',
  flac: 'flac',
  ogg: 'ogg',
  opus: 'ogg',
} as const satisfies Partial<Record<Format, string>>;

const MUXERS = {
  mp4: 'mp4',
  mov: 'mov',
  mkv: 'matroska',
  webm: 'webm',
  m4a: 'ipod',
  alac: 'ipod',
  mp3: 'mp3',
  aac: 'adts',
  wav: 'wav',
  flac: 'flac',
  ogg: 'ogg',
  opus: 'opus',
} as const satisfies Partial<Record<Format, string>>;

/** Names of all demuxers and muxers that arguments may contain. */
export const DEMUXER_NAMES = distinct(DEMUXERS);
export const MUXER_NAMES = distinct(MUXERS);

export type DemuxableFormat = keyof typeof DEMUXERS;
export type MuxableFormat = keyof typeof MUXERS;

/** Maximum processing time of a job, in seconds (docs/reference/limits-and-prices.md#limits-for-every-plan). */
const ENCODE_SECONDS = 4 * 3600;
const MAX_STREAMS = 64;

export interface MediaFile {
  readonly path: string;
  readonly format: Format;
}

interface FfmpegPlan {
  readonly input: MediaFile;
  /** Options of the input, such as the decoder of a stream. */
  readonly inputOptions?: readonly string[];
  readonly outputOptions: readonly string[];
  readonly output: { readonly path: string; readonly format: MuxableFormat };
}

interface FfmpegDeps {
  readonly run: RunCommand;
  readonly signal: AbortSignal;
}

/** Returns ffmpeg's arguments for one input and one output. Pure. */
export function ffmpegArguments({ input, inputOptions = [], outputOptions, output }: FfmpegPlan): string[] {
  const progress = ['-progress', 'pipe:1', '-nostats', '-stats_period', '0.5'];
  const guard = ['-nostdin', '-hide_banner', '-v', 'error', ...guardOptions(input.format)];
  const target = ['-f', MUXERS[output.format], '-y', `file:${output.path}`];
  return [...guard, ...inputOptions, '-i', `file:${input.path}`, ...progress, ...outputOptions, ...target];
}

/**
 * Returns ffprobe's arguments. Its output without packets stays below 64 KiB for any number of streams. Pure.
 * @param firstFrameOf index of the stream whose first frame is decoded; null: none.
 */
export function ffprobeArguments(input: MediaFile, entries: string, firstFrameOf: number | null = null): string[] {
  return [
    '-v',
    'error',
    ...guardOptions(input.format),
    ...(firstFrameOf === null ? [] : ['-select_streams', String(firstFrameOf), '-read_intervals', '%+#1']),
    '-show_entries',
    entries,
    '-of',
    'json=compact=1',
    '-i',
    `file:${input.path}`,
  ];
}

interface FfmpegRun {
  readonly args: readonly string[];
  readonly directory: string;
  /** Called with the seconds of output written so far. */
  readonly onSeconds?: (seconds: number) => void;
  /** Called with the bytes written so far, last with the size of the complete output. */
  readonly onBytes?: (bytes: number) => void;
}

/** Runs ffmpeg to its end. Its exit code is unreliable: check the output. @throws the signal's reason on abort. */
export async function runFfmpeg(
  deps: FfmpegDeps,
  { args, directory, onSeconds, onBytes }: FfmpegRun,
): Promise<ToolResult> {
  const result = await deps.run({
    file: 'ffmpeg',
    args,
    directory,
    env: ffmpegEnvironment(),
    signal: deps.signal,
    timeoutSeconds: ENCODE_SECONDS,
    onLine: (line) => {
      const seconds = progressSeconds(line);
      if (seconds !== null) onSeconds?.(seconds);
      const bytes = progressBytes(line);
      if (bytes !== null) onBytes?.(bytes);
    },
  });
  deps.signal.throwIfAborted();
  return result;
}

interface FfprobeRun {
  readonly input: MediaFile;
  readonly entries: string;
  readonly directory: string;
  /** Index of the stream whose first frame is decoded, for entries of frames. */
  readonly firstFrameOf?: number;
}

/** Returns ffprobe's parsed output; null when it cannot open the file. @throws the signal's reason on abort. */
export async function runFfprobe(
  deps: FfmpegDeps,
  { input, entries, directory, firstFrameOf }: FfprobeRun,
): Promise<unknown> {
  const args = ffprobeArguments(input, entries, firstFrameOf);
  const { exitCode, stdout } = await deps.run({
    file: 'ffprobe',
    args,
    directory,
    env: ffmpegEnvironment(),
    signal: deps.signal,
    timeoutSeconds: 120,
  });
  deps.signal.throwIfAborted();
  return exitCode === 0 ? parsed(stdout) : null;
}

interface FullProbe extends Pick<FfprobeRun, 'input' | 'entries' | 'directory'> {
  /** Called with each line that begins a packet, such as `{ "stream_index": 0, "pts_time": "0.000000" …`. */
  readonly onPacket: (line: string) => void;
}

const PACKET_ENTRIES = 'packet=stream_index,pts_time,dts_time,duration_time';

/**
 * Reads the file to its end once and reports the times of all packets. Returns ffprobe's parsed output of `streams` and
 * `format`; null when it cannot open the file. @throws the signal's reason on abort.
 */
export async function runFullFfprobe(
  deps: FfmpegDeps,
  { input, entries, directory, onPacket }: FullProbe,
): Promise<unknown> {
  let rest = '';
  const onLine = (line: string): void => {
    const isRest = rest !== '' || /^\s*"streams": \[/.test(line);
    if (isRest && rest.length < MAX_PROBE_CHARS) rest += line;
    if (!isRest && line.includes('"stream_index"')) onPacket(line);
  };
  const args = ffprobeArguments(input, `${PACKET_ENTRIES}:${entries}`);
  const { exitCode } = await deps.run({
    file: 'ffprobe',
    args,
    directory,
    env: ffmpegEnvironment(),
    signal: deps.signal,
    timeoutSeconds: ENCODE_SECONDS,
    onLine,
  });
  deps.signal.throwIfAborted();
  return exitCode === 0 ? parsed(`{${rest}`) : null;
}

/** Enough for some ten thousand chapters. */
const MAX_PROBE_CHARS = 512 * 1024;

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return null;
  }
}

/** Returns the seconds in a line of `-progress`; null for its other lines. */
export function progressSeconds(line: string): number | null {
  const digits = /^out_time_us=(\d{1,15})$/.exec(line.trim())?.[1];
  return digits === undefined ? null : Number(digits) / 1_000_000;
}

/** Returns the bytes in a line of `-progress`; null for its other lines. */
export function progressBytes(line: string): number | null {
  const digits = /^total_size=(\d{1,15})$/.exec(line.trim())?.[1];
  return digits === undefined ? null : Number(digits);
}

export function isDemuxable(format: Format): format is DemuxableFormat {
  return Object.hasOwn(DEMUXERS, format);
}

/** Bytes and microseconds in which streams are found: the first subtitle of a DVD is often minutes behind its start. */
const FAR_STREAMS = ['-probesize', '50000000', '-analyzeduration', '300000000'];

function guardOptions(format: Format): string[] {
  if (!isDemuxable(format)) throw new Error(`no demuxer for ${format}`);
  const demuxer = DEMUXERS[format];
  return [
    '-protocol_whitelist',
    'file,pipe',
    '-format_whitelist',
    demuxer,
    '-max_streams',
    String(MAX_STREAMS),
    ...(format === 'mpg' ? FAR_STREAMS : []),
    ...(demuxer.includes(',') ? [] : ['-f', demuxer]),
  ];
}

function distinct(names: Readonly<Record<string, string>>): string[] {
  return [...new Set(Object.values(names).flatMap((list) => list.split(',')))];
}
