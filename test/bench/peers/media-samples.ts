/** Sources for the rows of video and sound. */
import { join } from 'node:path';
import sharp from 'sharp';
import { wholePicture } from '#test/bench/calibration-set.ts';
import type { Fixture } from '#test/fixtures/engine-work.ts';
import { draw } from '#test/fixtures/make-media-fixtures.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';
import type { Bench } from './row.ts';

const VIDEO_SECONDS = 10;
const MOST_SECONDS = 300;

/** Generates a video: a moving view of a photo, with grain and audio. */
export async function makeVideo({ cache, folder }: Pick<Bench, 'cache' | 'folder'>): Promise<Fixture> {
  const photo = join(folder, 'view.png');
  await sharp(await wholePicture(cache, 'picosdeeuropa_by_Aitzol_Berasategi.jpg'))
    .png({ compressionLevel: 1 })
    .toFile(photo);
  const sources = [
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
  ];
  const move = 'crop=1920:1080:x=n*4:y=200+n,noise=alls=4:allf=t,format=yuv420p';
  const encoders = '-c:v libx264 -preset veryfast -crf 18 -c:a aac -b:a 192k'.split(' ');
  return draw(makeRunCommand(), folder, {
    format: 'mp4',
    name: 'view',
    args: [...sources, '-t', String(VIDEO_SECONDS), '-vf', move, ...encoders],
    timeoutSeconds: MOST_SECONDS,
  });
}

/** Generates five minutes of pink noise as MP3. */
export async function makeSound({ folder }: Pick<Bench, 'folder'>): Promise<Fixture> {
  const source = 'anoisesrc=color=pink:amplitude=0.3:duration=300,aformat=channel_layouts=stereo:sample_rates=44100';
  return draw(makeRunCommand(), folder, {
    format: 'mp3',
    name: 'sound',
    args: ['-f', 'lavfi', '-i', source, '-c:a', 'libmp3lame', '-b:a', '256k'],
    timeoutSeconds: MOST_SECONDS,
  });
}
