/** Encoder settings of each audio codec. Pure. */
import type { AUDIO_TIERS } from '#crds/catalogue/options/audio.ts';
import {
  bitRateRange,
  clampBitRate,
  hasManagedVorbis,
  VORBIS_LOWEST_QUALITY,
  type EncodedAudio,
} from '#worker-image/engine/media/audio-bit-rates.ts';
import type { AudioCodec } from '#worker-image/engine/media/audio-codec.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';

export type AudioTier = (typeof AUDIO_TIERS)[number];

/** Bit rates of stereo in kbit/s, by tier; those of MP3 are the averages of its V9, V6, V4, V2 and V0. */
const TIER_KBPS: Readonly<Record<'aac' | 'mp3' | 'vorbis' | 'opus', Readonly<Record<AudioTier, number>>>> = {
  aac: { tiny: 64, low: 96, balanced: 128, high: 160, maximum: 256 },
  mp3: { tiny: 65, low: 115, balanced: 165, high: 190, maximum: 245 },
  vorbis: { tiny: 64, low: 96, balanced: 128, high: 192, maximum: 256 },
  opus: { tiny: 32, low: 64, balanced: 96, high: 128, maximum: 192 },
};

/** Quality levels of LAME (-V). */
const MP3_LEVELS: Readonly<Record<AudioTier, string>> = { tiny: '9', low: '6', balanced: '4', high: '2', maximum: '0' };

/** Sample rates that each codec supports, in Hz. */
const SAMPLE_RATES: Readonly<Partial<Record<AudioCodec, readonly number[]>>> = {
  aac: [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000],
  mp3: [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000],
  opus: [8000, 12_000, 16_000, 24_000, 48_000],
};

/** Stereo kbit/s of libvorbis's quality levels from 0 up. Quality mode accepts every sample rate. */
const VORBIS_KBPS: readonly number[] = [64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 500];

const LOSSLESS = /^(?:pcm_|flac$|alac$|wmalossless$|tta$|wavpack$|ape$|truehd$|mlp$)/;

/** Returns whether a codec, by ffmpeg's name, is lossless. */
export function isLossless(codecName: string): boolean {
  return LOSSLESS.test(codecName);
}

/** Returns the bit rate of a tier for this number of channels, in bits per second. */
export function tierRate(codec: 'aac' | 'mp3' | 'vorbis' | 'opus', tier: AudioTier, channels: number): number {
  return Math.round((TIER_KBPS[codec][tier] * 1000 * Math.max(1, channels)) / 2);
}

/** Highest sample rate of Vorbis output, in Hz: libvorbis rejects 200 kHz and more. */
const HIGHEST_VORBIS_RATE = 192_000;

/** Returns the next higher sample rate that the codec supports, or its highest. */
export function nearestRate(codec: AudioCodec, rate: number): number {
  if (codec === 'vorbis') return Math.min(rate, HIGHEST_VORBIS_RATE);
  const rates = SAMPLE_RATES[codec];
  if (rates === undefined) return rate;
  return rates.find((allowed) => allowed >= rate) ?? rates.at(-1) ?? rate;
}

/** Layouts that ffmpeg assumes for channels without names, as far as an encoder lacks them. */
const UNNAMED_LAYOUTS: Readonly<Partial<Record<number, string>>> = { 3: '2.1', 8: '7.1' };

/** Layouts of one and two channels that all encoders support. */
const NAMED_LAYOUTS: ReadonlySet<string> = new Set(['', 'mono', 'stereo']);
/** Filters that name one and two channels mono and stereo, by the number of channels. */
const NAMING_FILTERS: Readonly<Partial<Record<number, string>>> = {
  1: 'channelmap=0:channel_layout=mono',
  2: 'channelmap=0|1:channel_layout=stereo',
};

const TO_5_1 = 'aformat=channel_layouts=5.1';
/** Filter that selects the supported layout nearest to that of the source. */
const NEAREST_OPUS = 'aformat=channel_layouts=7.1|6.1|5.1|5.0|quad|3.0|stereo';

/**
 * Filters of layouts that an encoder lacks, by codec and layout. They rename channels or add silent ones, and mix none:
 * ffmpeg would omit the low frequencies of 2.1, and mix 7.1 down.
 */
const LAYOUT_FILTERS: Readonly<Partial<Record<AudioCodec, Readonly<Partial<Record<string, string>>>>>> = {
  // AAC has no configuration number for the side layouts. Many decoders reject files without that number.
  aac: { '5.0(side)': 'aformat=channel_layouts=5.0', '5.1(side)': TO_5_1 },
  alac: { '2.1': TO_5_1, '3.1': TO_5_1, '7.1': 'channelmap=0|1|2|3|4|5|6|7:channel_layout=7.1(wide)' },
  opus: {
    '2.1': TO_5_1,
    '3.1': TO_5_1,
    '6.1(back)': 'channelmap=0|1|2|3|6|4|5:channel_layout=6.1',
    '7.1(wide)': 'channelmap=0|1|2|3|4|5|6|7:channel_layout=7.1',
  },
};

export interface AudioEncoding extends EncodedAudio {
  readonly tier: AudioTier;
  /** Bit rate in place of the tier's, in bits per second; null for the tier's own. Unused by lossless codecs. */
  readonly bitRate: number | null;
}

/** Returns ffmpeg's output options for one audio stream. Options with `:a` apply to every audio stream. */
export function encoderOptions(encoding: AudioEncoding, source: MediaStream): string[] {
  return [...codecOptions(encoding, source), '-ar', String(encoding.sampleRate), ...channelOptions(encoding, source)];
}

function codecOptions(encoding: AudioEncoding, source: MediaStream): string[] {
  switch (encoding.codec) {
    case 'aac':
      return ['-c:a', 'aac', '-b:a', String(rateOf('aac', encoding))];
    case 'opus':
      return ['-c:a', 'libopus', '-vbr', 'on', '-b:a', opusRate(encoding), ...opusMapping(encoding)];
    case 'mp3':
      return ['-c:a', 'libmp3lame', ...mp3Rate(encoding)];
    case 'vorbis':
      return ['-c:a', 'libvorbis', ...vorbisRate(encoding)];
    case 'pcm':
      return ['-c:a', pcmOf(source)];
    case 'flac':
      return ['-c:a', 'flac', '-compression_level', '8', '-sample_fmt', isDeep(source) ? 's32' : 's16'];
    case 'alac':
      return ['-c:a', 'alac', '-sample_fmt', isDeep(source) ? 's32p' : 's16p'];
  }
}

function rateOf(codec: 'aac' | 'opus' | 'vorbis', { bitRate, tier, channels }: AudioEncoding): number {
  return bitRate ?? tierRate(codec, tier, channels);
}

function opusRate(encoding: AudioEncoding): string {
  return String(clampBitRate(rateOf('opus', encoding), encoding));
}

/** Returns the option for the order of channels in the Opus specification. ffmpeg's own default permutes some layouts. */
function opusMapping({ channels }: AudioEncoding): string[] {
  return channels > 2 ? ['-mapping_family:a', '1'] : [];
}

function mp3Rate(encoding: AudioEncoding): string[] {
  const { bitRate, tier } = encoding;
  return bitRate === null ? ['-q:a', MP3_LEVELS[tier]] : ['-b:a', String(clampBitRate(bitRate, encoding))];
}

/** Returns a warning when samples of 32 bits are rounded to the 24 bits of ffmpeg's FLAC and ALAC. */
export function roundingWarnings(codec: AudioCodec, source: MediaStream): string[] {
  if ((codec !== 'flac' && codec !== 'alac') || bitsOf(source) <= 24) return [];
  return [`The samples of 32 bits were rounded to 24 bits, the maximum of the ${codec} encoder.`];
}

function isDeep(source: MediaStream): boolean {
  return bitsOf(source) > 16;
}

function channelOptions(encoding: AudioEncoding, source: MediaStream): string[] {
  const { channels } = encoding;
  const filter = layoutFilter(encoding, source);
  // Encoders reject mono and stereo without the name of a layout, as the decoder of Speex returns them.
  const isUnnamed = channels <= 2 && source.channel_layout === '';
  return [
    ...(channels !== source.channels || isUnnamed ? ['-ac', String(channels)] : []),
    ...(filter === null ? [] : ['-af', filter]),
  ];
}

/** Returns the filter that changes the channel layout to one that the encoder supports; null when none is needed. */
function layoutFilter({ codec, channels }: AudioEncoding, source: MediaStream): string | null {
  const layout = source.channel_layout || UNNAMED_LAYOUTS[source.channels] || '';
  // A channel of a split file is named after its speaker, such as "1 channels (FL)". ffmpeg cannot mix such layouts.
  if (source.channels <= 2) return NAMED_LAYOUTS.has(layout) ? null : (NAMING_FILTERS[source.channels] ?? null);
  if (channels !== source.channels) return null;
  return LAYOUT_FILTERS[codec]?.[layout] ?? (codec === 'opus' ? NEAREST_OPUS : null);
}

/** Returns the rate options of libvorbis. ffmpeg ignores negative levels, so low rates are set as average bit rates. */
function vorbisRate(encoding: AudioEncoding): string[] {
  const bitRate = rateOf('vorbis', encoding);
  return bitRate < VORBIS_LOWEST_QUALITY * encoding.channels && hasManagedVorbis(encoding.sampleRate)
    ? ['-b:a', String(Math.max(bitRate, bitRateRange(encoding).lowest))]
    : ['-q:a', vorbisQuality(bitRate, encoding.channels).toFixed(2)];
}

/** Returns the quality level, 0 to 10, that averages the bit rate. */
function vorbisQuality(bitRate: number, channels: number): number {
  const kbps = (bitRate / 1000) * (2 / Math.max(1, channels));
  const above = VORBIS_KBPS.findIndex((step) => step >= kbps);
  if (above === 0) return 0;
  if (above === -1) return 10;
  const [low = 0, high = 1] = [VORBIS_KBPS[above - 1], VORBIS_KBPS[above]];
  return above - 1 + (kbps - low) / (high - low);
}

function pcmOf(source: MediaStream): string {
  if (source.codec_name === 'pcm_u8') return 'pcm_u8';
  if (/^pcm_f(?:32|64)/.test(source.codec_name)) return 'pcm_f32le';
  const bits = bitsOf(source);
  if (bits > 24) return 'pcm_s32le';
  return bits > 16 ? 'pcm_s24le' : 'pcm_s16le';
}

/** Maximum size that the header of a WAV file can state, in bytes. RF64 extends it. */
const MAX_WAV_BYTES = 2 ** 32 - 1;
/** Space for the header and the tags of a WAV file, in bytes. */
const WAV_MARGIN = 2 ** 24;

/**
 * Returns the options of WAV. The chunk that reserves space for RF64 is omitted when the file certainly needs none: it
 * would make a file without tags larger than its source.
 * @param seconds Duration of the source; undefined when unknown.
 * @param encoding The encoded audio; null for a copy.
 */
export function wavOptions(
  source: MediaStream,
  seconds: number = Infinity,
  encoding: EncodedAudio | null = null,
): string[] {
  const { sampleRate, channels } = encoding ?? { sampleRate: source.sample_rate, channels: source.channels };
  const bytesPerSample = source.codec_name.startsWith('pcm_f64') ? 8 : 4;
  const isSmall = seconds * sampleRate * channels * bytesPerSample < MAX_WAV_BYTES - WAV_MARGIN;
  return ['-rf64', isSmall ? 'never' : 'auto'];
}

/** Returns the significant bits per sample. Lossy codecs decode to floats that hold no more than 16. */
function bitsOf(source: MediaStream): number {
  if (!isLossless(source.codec_name)) return 16;
  const named = /^pcm_[sfu](\d+)/.exec(source.codec_name)?.[1];
  return Math.max(source.bits_per_raw_sample, named === undefined ? 16 : Number(named));
}
