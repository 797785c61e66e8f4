/** What ffmpeg offers. Only here does fluent-ffmpeg start it, because no caller's file is opened. */
import { promisify } from 'node:util';
import ffmpegCommand from 'fluent-ffmpeg';
import { DEMUXER_NAMES, MUXER_NAMES } from '#worker-image/tools/ffmpeg.ts';

/** Encoders that the engine uses. */
const ENCODERS = [
  'libx264',
  'libx265',
  'libvpx',
  'libvpx-vp9',
  'aac',
  'libmp3lame',
  'libopus',
  'libvorbis',
  'flac',
  'alac',
  'pcm_s16le',
  'mov_text',
  'subrip',
  'webvtt',
];

/** Returns what the ffmpeg of a path lacks, such as `encoder libx265`, which builds without GPL libraries lack. The encoder of H.265 counts only with HEVC. */
export async function missingCodecs(path: string, { withoutHevc = false } = {}): Promise<string[]> {
  ffmpegCommand.setFfmpegPath(path);
  const formats = await promisify(ffmpegCommand.getAvailableFormats.bind(ffmpegCommand))();
  const encoders = await promisify(ffmpegCommand.getAvailableEncoders.bind(ffmpegCommand))();
  return [
    ...ENCODERS.filter((name) => encoders[name] === undefined && !(withoutHevc && name === 'libx265')).map(
      (name) => `encoder ${name}`,
    ),
    ...DEMUXER_NAMES.filter((name) => formats[name]?.canDemux !== true).map((name) => `demuxer ${name}`),
    ...MUXER_NAMES.filter((name) => formats[name]?.canMux !== true).map((name) => `muxer ${name}`),
  ];
}
