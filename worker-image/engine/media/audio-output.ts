/** The output formats of audio with their codecs, and the format that keeps the codec of a source. Pure. */
import type { Format } from '#crds/catalogue/formats.ts';
import type { AudioCodec } from '#worker-image/engine/media/audio-codec.ts';
import { isLossless } from '#worker-image/engine/media/audio-encoding.ts';
import type { Probe } from '#worker-image/engine/media/probe.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';
import type { MuxableFormat } from '#worker-image/tools/ffmpeg.ts';

export type AudioOutput = Extract<MuxableFormat, 'aac' | 'm4a' | 'mp3' | 'ogg' | 'opus' | 'wav' | 'flac' | 'alac'>;

export const CODECS: Readonly<Record<AudioOutput, AudioCodec>> = {
  aac: 'aac',
  m4a: 'aac',
  mp3: 'mp3',
  ogg: 'vorbis',
  opus: 'opus',
  wav: 'pcm',
  flac: 'flac',
  alac: 'alac',
};

/** Outputs that keep each codec, whatever the container of the source. */
const OUTPUTS: Readonly<Record<AudioCodec, AudioOutput>> = {
  aac: 'm4a',
  mp3: 'mp3',
  vorbis: 'ogg',
  opus: 'opus',
  pcm: 'wav',
  flac: 'flac',
  alac: 'alac',
};

/** Returns the codec of the source; null when it is none of the output codecs. */
export function codecOf({ codec_name: name }: MediaStream): AudioCodec | null {
  if (name.startsWith('pcm_')) return 'pcm';
  return name === 'aac' || name === 'mp3' || name === 'vorbis' || name === 'opus' || name === 'flac' || name === 'alac'
    ? name
    : null;
}

/** Returns the output that keeps the codec. Other lossless codecs become FLAC, other lossy ones that of the container. */
export function originalOf(probe: Probe, source: MediaStream): AudioOutput {
  const codec = codecOf(source);
  if (codec === null) return isLossless(source.codec_name) ? 'flac' : containerOf(probe, source);
  return codec === 'aac' && probe.format === 'aac' ? 'aac' : OUTPUTS[codec];
}

/** Returns the output that keeps the container; wma becomes m4a. */
export function containerOf({ format }: Probe, source: MediaStream): AudioOutput {
  const byFormat: Partial<Record<Format, AudioOutput>> = {
    mp3: 'mp3',
    aac: 'aac',
    wav: 'wav',
    flac: 'flac',
    ogg: 'ogg',
    opus: 'opus',
    m4a: source.codec_name === 'alac' ? 'alac' : 'm4a',
  };
  return byFormat[format] ?? 'm4a';
}

/** Returns a warning when an output that was to keep the codec of the source has another one. */
export function codecWarnings(source: MediaStream, output: AudioOutput): string[] {
  const codec = CODECS[output];
  return codecOf(source) === codec
    ? []
    : [`The codec ${source.codec_name} is not supported as output: ${codec} was used.`];
}
