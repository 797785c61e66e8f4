/** Decides how an audio file is compressed or converted. Pure: probe and options in, ffmpeg's options out. */
import type { Format } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import { sampleRateRule } from '#crds/options/impossible-pairs.ts';
import type { ResolvedOptions } from '#crds/options/options.ts';
import {
  encoderOptions,
  isLossless,
  nearestRate,
  roundingWarnings,
  tierRate,
  type AudioCodec,
  type AudioEncoding,
} from '#worker-image/engine/media/audio-encoding.ts';
import { GAPLESS, type MediaStream, type Probe } from '#worker-image/engine/media/probe.ts';
import type { MuxableFormat } from '#worker-image/tools/ffmpeg.ts';

type AudioOptions = ResolvedOptions['audio'];
export type AudioOutput = Extract<MuxableFormat, 'aac' | 'm4a' | 'mp3' | 'ogg' | 'opus' | 'wav' | 'flac' | 'alac'>;

const CODECS: Readonly<Record<AudioOutput, AudioCodec>> = {
  aac: 'aac',
  m4a: 'aac',
  mp3: 'mp3',
  ogg: 'vorbis',
  opus: 'opus',
  wav: 'pcm',
  flac: 'flac',
  alac: 'alac',
};

/** Outputs that hold a cover picture. */
const WITH_COVER: ReadonlySet<AudioOutput> = new Set(['m4a', 'alac', 'mp3', 'flac']);

export interface AudioPlan {
  readonly format: AudioOutput;
  readonly outputOptions: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * @param seconds playing time, from which a rate follows when the file names none.
 * @throws MediaError invalid_options for a sample rate that the output does not take,
 *   processing_failed without an audio track. Spec: POST /v1/compress.
 */
export function planCompress(probe: Probe, options: AudioOptions): AudioPlan {
  const source = audioTrackOf(probe);
  const format = options.format === 'original' ? originalOf(probe, source) : options.format;
  const codec = CODECS[format];
  refuseSampleRate(codec, options.sample_rate_hz);
  const channels = channelsOf(codec, source, options.channels);
  const wanted = options.sample_rate_hz ?? source.sample_rate;
  const sampleRate = nearestRate(codec, wanted);
  const encoding: AudioEncoding = {
    codec,
    tier: options.quality,
    bitRate: bitRateOf({ codec, probe, source, channels }, options),
    sampleRate,
    channels,
  };
  const same = sampleRate === source.sample_rate && channels === source.channels;
  const coding = same && gainsNothing(encoding, probe, source) ? ['-c:a', 'copy'] : encoderOptions(encoding, source);
  return withOwnTimes(probe, {
    format,
    outputOptions: [...frameOptions(probe, format, options.strip_metadata), ...coding],
    warnings: [
      ...(options.sample_rate_hz !== null && sampleRate !== wanted
        ? [`${format} has no sample rate of ${wanted} Hz; ${sampleRate} Hz was used.`]
        : []),
      ...channelWarning(source, channels, options.channels),
      ...roundingWarnings(codec, source),
    ],
  });
}

/** Fixed high quality; the stream is copied when the target takes it. Spec: POST /v1/convert. */
export function planConvert(probe: Probe, format: AudioOutput): AudioPlan {
  const source = audioTrackOf(probe);
  const codec = CODECS[format];
  const channels = channelsOf(codec, source, 'original');
  const encoding: AudioEncoding = {
    codec,
    tier: 'maximum',
    bitRate: null,
    sampleRate: nearestRate(codec, source.sample_rate),
    channels,
  };
  const takes = codecOf(source) === codec || (format === 'm4a' && source.codec_name === 'alac');
  const copies = takes && codec !== 'pcm';
  return withOwnTimes(probe, {
    format,
    outputOptions: [
      ...frameOptions(probe, format, false),
      ...(copies ? ['-c:a', 'copy'] : encoderOptions(encoding, source)),
    ],
    warnings: [...channelWarning(source, channels, 'original'), ...roundingWarnings(codec, source)],
  });
}

/** The same sound without tags, pictures and chapters, in the container of its codec. */
export function planStrip(probe: Probe): AudioPlan {
  const format = originalOf(probe, audioTrackOf(probe));
  return { format, outputOptions: [...frameOptions(probe, format, true), '-c:a', 'copy'], warnings: [] };
}

/** The plan with silence wherever the input's clock goes on without sound; null for a copy, which cannot have it. */
export function withPauses(plan: AudioPlan): AudioPlan | null {
  return withFilter(plan, 'aresample=async=1');
}

/** The plan with silence behind sound that is shorter, of which a resampler may leave nothing; null for a copy. */
export function withSilentEnd(plan: AudioPlan, seconds: number): AudioPlan | null {
  return withFilter(plan, `apad=whole_dur=${seconds}`);
}

/** The plan with times that follow from the samples where those of the packets mean nothing. */
function withOwnTimes({ format }: Probe, plan: AudioPlan): AudioPlan {
  return GAPLESS.has(format) ? (withFilter(plan, 'asetpts=N/SR/TB') ?? plan) : plan;
}

/** True when the sound is not encoded anew. */
export function isCopy({ outputOptions }: AudioPlan): boolean {
  return outputOptions[outputOptions.indexOf('-c:a') + 1] === 'copy';
}

function withFilter(plan: AudioPlan, filter: string): AudioPlan | null {
  if (isCopy(plan)) return null;
  const { outputOptions } = plan;
  const before = outputOptions.lastIndexOf('-af');
  const filters = [filter, ...(before === -1 ? [] : outputOptions.slice(before + 1, before + 2))];
  return { ...plan, outputOptions: [...outputOptions, '-af', filters.join(',')] };
}

/** @throws MediaError processing_failed. Spec: Errors, processing_failed. */
export function audioTrackOf(probe: Probe): MediaStream {
  const [track] = probe.audio;
  if (track !== undefined && track.sample_rate > 0) return track;
  throw new MediaError('processing_failed', 'The file has no audio track. Send a file that holds sound.');
}

/** Same codec; wma becomes m4a. */
function originalOf(probe: Probe, source: MediaStream): AudioOutput {
  const byFormat: Partial<Record<Format, AudioOutput>> = {
    mp3: 'mp3',
    aac: 'aac',
    wav: 'wav',
    flac: 'flac',
    ogg: 'ogg',
    opus: 'opus',
    m4a: source.codec_name === 'alac' ? 'alac' : 'm4a',
  };
  return byFormat[probe.format] ?? 'm4a';
}

function refuseSampleRate(codec: AudioCodec, rate: number | null): void {
  const allowed = rate === null ? null : sampleRateRule(codec, rate);
  if (allowed === null) return;
  throw new MediaError('invalid_options', `A sample rate of ${rate} Hz does not go into ${codec}: ${allowed}.`, {
    param: 'audio.sample_rate_hz',
  });
}

function channelsOf(codec: AudioCodec, source: MediaStream, wanted: AudioOptions['channels']): number {
  if (wanted === 'mono') return 1;
  return Math.min(source.channels, codec === 'mp3' ? 2 : 8);
}

function channelWarning(source: MediaStream, channels: number, wanted: AudioOptions['channels']): string[] {
  if (wanted === 'mono' || channels === source.channels) return [];
  return [`The ${source.channels} channels were mixed down to ${channels}, the most that the output holds.`];
}

interface RateQuestion {
  readonly codec: AudioCodec;
  readonly probe: Probe;
  readonly source: MediaStream;
  readonly channels: number;
}

/** The rate to encode at, never above a lossy source's own; null for the tier's own. */
function bitRateOf({ codec, probe, source, channels }: RateQuestion, options: AudioOptions): number | null {
  if (!isRated(codec)) return null;
  const asked = options.bitrate_kbps === null ? null : options.bitrate_kbps * 1000;
  const own = sourceRate(probe, source);
  if (own === null || own >= (asked ?? tierRate(codec, options.quality, channels))) return asked;
  return own;
}

/** Copying loses nothing, so a re-encode must at least promise fewer bits. */
function gainsNothing(encoding: AudioEncoding, probe: Probe, source: MediaStream): boolean {
  if (codecOf(source) !== encoding.codec) return false;
  if (!isRated(encoding.codec)) return encoding.codec === 'pcm';
  const own = sourceRate(probe, source);
  const target = encoding.bitRate ?? tierRate(encoding.codec, encoding.tier, encoding.channels);
  return own !== null && own <= target * COPY_MARGIN;
}

/** A second lossy generation is not worth less than this. */
const COPY_MARGIN = 1.05;

function isRated(codec: AudioCodec): codec is 'aac' | 'mp3' | 'vorbis' | 'opus' {
  return codec === 'aac' || codec === 'mp3' || codec === 'vorbis' || codec === 'opus';
}

/** Bits per second of a lossy source; null for lossless ones and when nothing says. */
function sourceRate(probe: Probe, source: MediaStream): number | null {
  if (isLossless(source.codec_name)) return null;
  const rate = source.bit_rate > 0 ? source.bit_rate : probe.bitRate;
  return rate > 0 ? rate : null;
}

function codecOf(source: MediaStream): AudioCodec | null {
  if (source.codec_name.startsWith('pcm_')) return 'pcm';
  const name = source.codec_name;
  return name === 'aac' || name === 'mp3' || name === 'vorbis' || name === 'opus' || name === 'flac' || name === 'alac'
    ? name
    : null;
}

/** What is mapped and which tags and pictures come along. */
function frameOptions(probe: Probe, format: AudioOutput, strip: boolean): string[] {
  const audio = ['-map', `0:${audioTrackOf(probe).index}`];
  const container =
    format === 'm4a' || format === 'alac' ? ['-movflags', '+faststart'] : format === 'wav' ? ['-rf64', 'auto'] : [];
  if (strip)
    return [
      ...audio,
      '-map_metadata',
      '-1',
      '-map_chapters',
      '-1',
      '-fflags',
      '+bitexact',
      '-flags:a',
      '+bitexact',
      ...container,
    ];
  const takesCover = probe.cover !== null && WITH_COVER.has(format) && /^(?:mjpeg|png)$/.test(probe.cover.codec_name);
  const cover = takesCover ? ['-map', `0:${probe.cover?.index}`, '-c:v', 'copy', '-disposition:v', 'attached_pic'] : [];
  return [...audio, ...cover, ...tagOptions(probe, format), ...container];
}

/** Ogg keeps its tags on the stream, all others on the file. */
function tagOptions(probe: Probe, format: AudioOutput): string[] {
  const fromStream = probe.format === 'ogg' || probe.format === 'opus';
  const id3 = format === 'mp3' ? ['-id3v2_version', '3'] : [];
  return ['-map_metadata', fromStream ? '0:s:a:0' : '0', ...id3];
}
