/** Video and audio: one clip and one talk in every container. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Format } from '#crds/catalogue/formats.ts';
import { clip, metronome, talk } from './media.ts';
import { sample, type Recipe } from './recipe.ts';
import { speech } from './speech.ts';
import { runTool } from './tools.ts';

const H264 = ['-c:v', 'libx264', '-preset', 'medium', '-crf', '18'];

/** Encoders of each container, as used by the programs of its time. */
const CLIPS: Readonly<Partial<Record<Format, readonly string[]>>> = {
  mov: [...H264, '-c:a', 'pcm_s16le'],
  avi: ['-c:v', 'mpeg4', '-q:v', '4', '-c:a', 'libmp3lame', '-b:a', '128k'],
  mkv: [...H264, '-c:a', 'flac'],
  webm: ['-c:v', 'libvpx-vp9', '-b:v', '1500k', '-deadline', 'good', '-cpu-used', '6', '-c:a', 'libopus'],
  flv: ['-c:v', 'flv', '-q:v', '5', '-c:a', 'libmp3lame', '-ar', '44100'],
  wmv: ['-c:v', 'wmv2', '-q:v', '5', '-c:a', 'wmav2', '-f', 'asf'],
  m4v: [...H264, '-c:a', 'aac', '-brand', 'M4V ', '-f', 'ipod'],
  mpg: ['-c:v', 'mpeg2video', '-q:v', '5', '-c:a', 'mp2', '-f', 'vob'],
  '3gp': ['-c:v', 'h263', '-s', '352x288', '-b:v', '600k', '-c:a', 'aac', '-ac', '1', '-f', '3gp'],
};

const TALKS: Readonly<Partial<Record<Format, readonly string[]>>> = {
  aac: ['-c:a', 'aac', '-b:a', '192k', '-f', 'adts'],
  wav: ['-c:a', 'pcm_s16le'],
  flac: ['-c:a', 'flac'],
  m4a: ['-c:a', 'aac', '-b:a', '256k', '-f', 'ipod'],
  ogg: ['-c:a', 'libvorbis', '-q:a', '8'],
  opus: ['-c:a', 'libopus', '-b:a', '192k'],
  wma: ['-c:a', 'wmav2', '-b:a', '192k', '-f', 'asf'],
};

export const MEDIA_SAMPLES: readonly Recipe[] = [
  sample('clip.mp4', 'mp4', clip),
  ...Object.entries(CLIPS).map(([format, encoders]) =>
    sample(`clip.${format}`, format as Format, (at) =>
      encode(at, ['-t', '4', '-i', 'clip.mp4', '-vf', 'scale=480:-2', ...encoders, `clip.${format}`]),
    ),
  ),
  sample('talk.mp3', 'mp3', talk),
  ...Object.entries(TALKS).map(([format, encoders]) =>
    sample(`talk.${format}`, format as Format, async (at) => {
      await writeFile(join(at, 'short-talk.wav'), speech(8, 6));
      await encode(at, ['-i', 'short-talk.wav', '-metadata', 'title=Ridge path', ...encoders, `talk.${format}`]);
    }),
  ),
  // Over the limit of direct requests with a test key, so it tests jobs.
  sample('large-metronome.wav', 'wav', (at) => writeFile(join(at, 'large-metronome.wav'), metronome(45))),
];

function encode(directory: string, args: readonly string[]): Promise<void> {
  return runTool(directory, 'ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args]);
}
