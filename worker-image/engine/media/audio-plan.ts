/** Plans how an audio file is compressed or converted, as ffmpeg's options. Pure. */
import { MediaError } from '#crds/contract/media-error.ts';
import { sampleRateRule } from '#crds/catalogue/options/impossible-pairs.ts';
import type { ResolvedOptions } from '#crds/catalogue/options/options.ts';
import { bitRateWarnings, clampBitRate, type EncodedAudio } from '#worker-image/engine/media/audio-bit-rates.ts';
import type { AudioCodec } from '#worker-image/engine/media/audio-codec.ts';
import {
  encoderOptions,
  isLossless,
  nearestRate,
  roundingWarnings,
  tierRate,
  wavOptions,
  type AudioEncoding,
} from '#worker-image/engine/media/audio-encoding.ts';
import {
  CODECS,
  codecOf,
  codecWarnings,
  containerOf,
  originalOf,
  type AudioOutput,
} from '#worker-image/engine/media/audio-output.ts';
import { audioTrackOf } from '#worker-image/engine/media/audio-track.ts';
import { GAPLESS, type Probe } from '#worker-image/engine/media/probe.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';
import { isReadableCover } from '#worker-image/engine/media/video-extras.ts';

type AudioOptions = ResolvedOptions['audio'];

/** Outputs that can contain cover art. */
const WITH_COVER: ReadonlySet<AudioOutput> = new Set(['m4a', 'alac', 'mp3', 'flac']);

export interface AudioPlan {
  readonly format: AudioOutput;
  readonly outputOptions: readonly string[];
  readonly warnings: readonly string[];
  /** The same plan with a new encoding, used when a copy fails; null without a copy, and for stripping. */
  readonly encoded: AudioPlan | null;
}

/**
 * Returns the plan for compressing. The stream is copied when encoding it again would not reduce its bit rate.
 * @throws MediaError invalid_options for a sample rate that the output does not support, processing_failed
 *   without an audio track.
 */
export function planCompress(probe: Probe, options: AudioOptions): AudioPlan {
  const source = audioTrackOf(probe);
  const format = options.format === 'original' ? originalOf(probe, source) : options.format;
  const codec = CODECS[format];
  refuseSampleRate(codec, options.sample_rate_hz);
  const channels = channelsOf(codec, source, options.channels);
  const wanted = options.sample_rate_hz ?? source.sample_rate;
  const sampleRate = nearestRate(codec, wanted);
  const audio = { codec, tier: options.quality, sampleRate, channels };
  const requested = requestedRate(audio, options);
  const encoding: AudioEncoding = { ...audio, bitRate: bitRateOf({ ...audio, bitRate: requested }, probe, source) };
  const same = sampleRate === source.sample_rate && channels === source.channels;
  return assemble(probe, encoding, {
    format,
    copies: same && gainsNothing(encoding, probe, source),
    selection: frameOptions(probe, format, options.strip_metadata, encoding),
    warnings: [
      ...(options.format === 'original' ? codecWarnings(source, format) : []),
      ...(options.sample_rate_hz !== null && sampleRate !== wanted
        ? [`${format} has no sample rate of ${wanted} Hz; ${sampleRate} Hz was used.`]
        : []),
      ...(encoding.bitRate === requested ? bitRateWarnings(encoding, options.bitrate_kbps) : []),
      ...channelWarning(source, channels, options.channels),
      ...roundingWarnings(codec, source),
    ],
  });
}

/** Returns the plan for converting, in fixed high quality. The stream is copied when the target supports its codec. */
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
  const isSupported = codecOf(source) === codec || (format === 'm4a' && source.codec_name === 'alac');
  // The header of a FLAC counts its samples: a copy out of Ogg or of a truncated file leaves 0 or too many there.
  const copies = isSupported && codec !== 'pcm' && codec !== 'flac';
  return assemble(probe, encoding, {
    format,
    copies,
    selection: frameOptions(probe, format, false, encoding),
    warnings: [...channelWarning(source, channels, 'original'), ...roundingWarnings(codec, source)],
  });
}

interface Assembly extends Pick<AudioPlan, 'format' | 'warnings'> {
  readonly copies: boolean;
  /** Options that select streams, tags and cover art. */
  readonly selection: readonly string[];
}

function assemble(probe: Probe, encoding: AudioEncoding, { format, copies, selection, warnings }: Assembly): AudioPlan {
  const encoded = withSampleTimes(probe, {
    format,
    outputOptions: [...selection, ...encoderOptions(encoding, audioTrackOf(probe))],
    warnings,
    encoded: null,
  });
  // A copy of a chained file has the tags of its further parts, and their headers as packets.
  if (!copies || probe.ogg?.isChained === true) return encoded;
  return { format, outputOptions: [...selection, '-c:a', 'copy'], warnings, encoded };
}

/** Returns the plan for copying the audio stream without tags, cover art and chapters. */
export function planStrip(probe: Probe): AudioPlan {
  const format = containerOf(probe, audioTrackOf(probe));
  const outputOptions = [...frameOptions(probe, format, true, null), '-c:a', 'copy'];
  return { format, outputOptions, warnings: [], encoded: null };
}

/** Returns the plan with silence in the gaps between packets; null for a copy, which cannot be filtered. */
export function withPauses(plan: AudioPlan): AudioPlan | null {
  return withFilter(plan, 'aresample=async=1');
}

/** Returns the plan with silence up to a minimum duration, below which a resampler may drop all; null for a copy. */
export function withSilentEnd(plan: AudioPlan, seconds: number): AudioPlan | null {
  return withFilter(plan, `apad=whole_dur=${seconds}`);
}

/** Returns the plan with timestamps computed from the sample count, for formats whose packet times are unreliable. */
function withSampleTimes({ format, ogg }: Probe, plan: AudioPlan): AudioPlan {
  return GAPLESS.has(format) || ogg?.isChained === true ? (withFilter(plan, 'asetpts=N/SR/TB') ?? plan) : plan;
}

/** Returns whether the plan copies the stream. */
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

function refuseSampleRate(codec: AudioCodec, rate: number | null): void {
  const allowed = rate === null ? null : sampleRateRule(codec, rate);
  if (allowed === null) return;
  throw new MediaError('invalid_options', `${codec} does not support a sample rate of ${rate} Hz. Use ${allowed}.`, {
    param: 'audio.sample_rate_hz',
  });
}

function channelsOf(codec: AudioCodec, source: MediaStream, wanted: AudioOptions['channels']): number {
  if (wanted === 'mono') return 1;
  return codec === 'pcm' ? source.channels : Math.min(source.channels, codec === 'mp3' ? 2 : 8);
}

function channelWarning(source: MediaStream, channels: number, wanted: AudioOptions['channels']): string[] {
  if (wanted === 'mono' || channels === source.channels) return [];
  return [`The ${source.channels} channels were mixed down to ${channels}, the maximum of the output format.`];
}

/** Returns the requested bit rate within the encoder's range; null for none, and for a lossless codec. */
function requestedRate(audio: EncodedAudio, { bitrate_kbps: kbps }: AudioOptions): number | null {
  return kbps === null || !isRated(audio.codec) ? null : clampBitRate(kbps * 1000, audio);
}

/** Returns the bit rate to encode at: the requested one, at most that of a lossy source; null for the tier's own. */
function bitRateOf(requested: AudioEncoding, probe: Probe, source: MediaStream): number | null {
  const { codec, tier, channels, bitRate } = requested;
  if (!isRated(codec)) return null;
  const own = sourceRate(probe, source);
  if (own === null || own >= (bitRate ?? tierRate(codec, tier, channels))) return bitRate;
  return clampBitRate(own, requested);
}

/** Returns whether encoding would not reduce the bit rate by `COPY_MARGIN`: copying loses no quality. */
function gainsNothing(encoding: AudioEncoding, probe: Probe, source: MediaStream): boolean {
  if (codecOf(source) !== encoding.codec) return false;
  if (!isRated(encoding.codec)) return WAV_PCM.test(source.codec_name);
  const own = sourceRate(probe, source);
  const target = encoding.bitRate ?? tierRate(encoding.codec, encoding.tier, encoding.channels);
  return own !== null && own <= target * COPY_MARGIN;
}

/** PCM, by ffmpeg's names, that WAV can contain: QuickTime's is often big-endian. */
const WAV_PCM = /^pcm_(?:u8|s16le|s24le|s32le|f32le|f64le|alaw|mulaw)$/;

/** Minimum ratio of the source's bit rate to the target's for which a second lossy encoding is worthwhile. */
const COPY_MARGIN = 1.05;

function isRated(codec: AudioCodec): codec is 'aac' | 'mp3' | 'vorbis' | 'opus' {
  return codec === 'aac' || codec === 'mp3' || codec === 'vorbis' || codec === 'opus';
}

/** Returns the bit rate of a lossy source in bits per second; null for a lossless one and when it is unknown. */
function sourceRate(probe: Probe, source: MediaStream): number | null {
  if (isLossless(source.codec_name)) return null;
  const rate = source.bit_rate > 0 ? source.bit_rate : probe.bitRate;
  return rate > 0 ? rate : null;
}

const STRIP_OPTIONS = '-map_metadata -1 -map_chapters -1 -fflags +bitexact -flags:a +bitexact'.split(' ');
const FAST_START = ['-movflags', '+faststart'];

/** Returns the options that select streams, tags and cover art. @param encoding The new encoding; null for a copy. */
function frameOptions(probe: Probe, format: AudioOutput, strip: boolean, encoding: EncodedAudio | null): string[] {
  const source = audioTrackOf(probe);
  const audio = ['-map', `0:${source.index}`];
  const mp4 = format === 'm4a' || format === 'alac' ? FAST_START : [];
  const container = format === 'wav' ? wavOptions(source, probe.ends.get(source.index), encoding) : mp4;
  if (strip) return [...audio, ...STRIP_OPTIONS, ...container];
  const keepsCover = probe.cover !== null && WITH_COVER.has(format) && isReadableCover(probe.cover);
  const cover = keepsCover ? ['-map', `0:${probe.cover?.index}`, '-c:v', 'copy', '-disposition:v', 'attached_pic'] : [];
  return [...audio, ...cover, ...tagOptions(probe, format), ...container];
}

/** Options that write ID3 tags. ADTS frames cannot contain tags, so ffmpeg drops them unless it is to write ID3. */
const ID3_OPTIONS: Partial<Record<AudioOutput, readonly string[]>> = {
  mp3: ['-id3v2_version', '3'],
  aac: ['-write_id3v2', '1'],
};

/** Returns the options that copy the tags: Ogg has them on the stream, all other formats on the file. */
function tagOptions(probe: Probe, format: AudioOutput): string[] {
  const fromStream = probe.format === 'ogg' || probe.format === 'opus';
  return ['-map_metadata', fromStream ? '0:s:a:0' : '0', ...(ID3_OPTIONS[format] ?? [])];
}
