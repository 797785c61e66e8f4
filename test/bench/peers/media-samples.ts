/** Sources for the rows of video and sound. */
import { join } from 'node:path';
import sharp from 'sharp';
import { wholePicture } from '#test/bench/calibration-set.ts';
import type { Fixture } from '#test/fixtures/engine-work.ts';
import type { Bench } from './row.ts';
import { runProgram } from './run-program.ts';

const VIDEO_SECONDS = 10;

/** A view that moves over a photo, with grain and sound. */
export async function makeVideo({ cache, folder }: Pick<Bench, 'cache' | 'folder'>): Promise<Fixture> {
  const photo = join(folder, 'view.png');
  await sharp(await wholePicture(cache, 'picosdeeuropa_by_Aitzol_Berasategi.jpg'))
    .png({ compressionLevel: 1 })
    .toFile(photo);
  const path = join(folder, 'view.mp4');
  const move = 'crop=1920:1080:x=n*4:y=200+n,noise=alls=4:allf=t,format=yuv420p';
  await runProgram('ffmpeg', [
    '-y',
    '-v',
    'error',
    '-loop',
    '1',
    '-framerate',
    '30',
    '-i',
    photo,
    '-f',
    'lavfi',
    '-i',
    'anoisesrc=color=pink:amplitude=0.2',
    '-t',
    String(VIDEO_SECONDS),
    '-vf',
    move,
    '-c:v',
    'libx264',
    '-preset',
    'veryfast',
    '-crf',
    '18',
    '-c:a',
    'aac',
    '-b:a',
    '192k',
    path,
  ]);
  return { name: 'view', path, format: 'mp4' };
}

/** Five minutes of pink noise as MP3. */
export async function makeSound({ folder }: Pick<Bench, 'folder'>): Promise<Fixture> {
  const path = join(folder, 'sound.mp3');
  const source = 'anoisesrc=color=pink:amplitude=0.3:duration=300,aformat=channel_layouts=stereo:sample_rates=44100';
  await runProgram('ffmpeg', [
    '-y',
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    source,
    '-c:a',
    'libmp3lame',
    '-b:a',
    '256k',
    path,
  ]);
  return { name: 'sound', path, format: 'mp3' };
}
