/** The bit rates that each audio encoder supports. */
import type { AudioCodec } from '#worker-image/engine/media/audio-codec.ts';

/** Range of bit rates in bits per second, both ends included. */
export interface BitRateRange {
  readonly lowest: number;
  readonly highest: number;
}

/** The properties of a stream that its possible bit rates depend on. */
export interface EncodedAudio {
  readonly codec: AudioCodec;
  /** Sample rate in Hz. */
  readonly sampleRate: number;
  readonly channels: number;
}

/**
 * Lowest bit rates of libvorbis's managed mode, in bits per second and channel: `stereo` for two channels, `other` for
 * one channel or more than two. Each row applies up to `maxHz`; above the last row libvorbis has no managed mode.
 */
const VORBIS_LOWEST: readonly { readonly maxHz: number; readonly stereo: number; readonly other: number }[] = [
  { maxHz: 9000, stereo: 6000, other: 8000 },
  { maxHz: 15_000, stereo: 8000, other: 12_000 },
  { maxHz: 19_000, stereo: 12_000, other: 16_000 },
  { maxHz: 26_000, stereo: 15_000, other: 16_000 },
  { maxHz: 40_000, stereo: 18_000, other: 30_000 },
  { maxHz: 50_000, stereo: 22_500, other: 32_000 },
];

/** Average rate of libvorbis's quality level 0, in bits per second and channel. ffmpeg ignores the level below it. */
export const VORBIS_LOWEST_QUALITY = 32_000;
const VORBIS_HIGHEST = 250_000;
/** Lowest sample rate of MPEG-1, in Hz. Source: ISO/IEC 11172-3 and 13818-3, table of bit rates of layer III. */
const MPEG1_HZ = 32_000;

/** Returns whether libvorbis supports an average bit rate at this sample rate. */
export function hasManagedVorbis(sampleRate: number): boolean {
  return VORBIS_LOWEST.some(({ maxHz }) => sampleRate <= maxHz);
}

/** Returns the bit rates that the codec's encoder supports at this sample rate and number of channels. */
export function bitRateRange({ codec, sampleRate, channels }: EncodedAudio): BitRateRange {
  if (codec === 'vorbis') return { lowest: lowestVorbis(sampleRate, channels), highest: VORBIS_HIGHEST * channels };
  if (codec === 'opus') return { lowest: 6000, highest: 256_000 * channels };
  if (codec !== 'mp3') return { lowest: 0, highest: Infinity };
  return sampleRate < MPEG1_HZ ? { lowest: 8000, highest: 160_000 } : { lowest: 32_000, highest: 320_000 };
}

/** Returns the bit rate, or the nearest end of the encoder's range, in bits per second. */
export function clampBitRate(bitRate: number, audio: EncodedAudio): number {
  const { lowest, highest } = bitRateRange(audio);
  return Math.min(highest, Math.max(lowest, bitRate));
}

/** Returns a warning when the requested bit rate is outside of the encoder's range, whose nearest end is then used. */
export function bitRateWarnings(audio: EncodedAudio, kbps: number | null): string[] {
  if (kbps === null) return [];
  const { lowest, highest } = bitRateRange(audio);
  const { codec, sampleRate, channels } = audio;
  const where = `${codec} at ${sampleRate} Hz with ${channels === 1 ? 'one channel' : `${channels} channels`}`;
  if (kbps * 1000 < lowest) {
    const advice = 'A lower sample rate or one channel allows less.';
    return [`${where} supports at least ${lowest / 1000} kbit/s, which was used instead of ${kbps}. ${advice}`];
  }
  if (kbps * 1000 <= highest) return [];
  return [`${where} supports at most ${highest / 1000} kbit/s, which was used instead of ${kbps}.`];
}

function lowestVorbis(sampleRate: number, channels: number): number {
  const row = VORBIS_LOWEST.find(({ maxHz }) => sampleRate <= maxHz);
  if (row === undefined) return VORBIS_LOWEST_QUALITY * channels;
  return (channels === 2 ? row.stereo : row.other) * channels;
}
