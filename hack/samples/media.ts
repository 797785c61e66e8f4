/** Video and audio generated with ffmpeg. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { landscape } from './landscape.ts';
import { speech } from './speech.ts';
import { runTool } from './tools.ts';
import { wavFile } from './wav.ts';

/** Generates a video: a moving view of a landscape, a disc that crosses it, grain, and a tone that rises and falls. */
export async function clip(directory: string): Promise<void> {
  await landscape({ width: 2560, height: 900, seed: 42 })
    .png({ compressionLevel: 1 })
    .toFile(join(directory, 'pan.png'));
  const disc = "drawbox=x='mod(t*210,1280)':y='300+160*sin(t*2)':w=90:h=90:color=orange@0.9:t=fill";
  const picture = `[0:v]crop=1280:720:x='(in_w-1280)*t/8':y='90+90*sin(t)',noise=alls=7:allf=t,${disc},format=yuv420p[v]`;
  const sound =
    "aevalsrc='0.2*sin(2*PI*t*(220+40*sin(t)))+0.1*sin(2*PI*t*660)|0.2*sin(2*PI*t*(220+40*cos(t)))':s=48000:d=8";
  const codecs = [
    '-c:v',
    'libx264',
    '-preset',
    'medium',
    '-b:v',
    '2000k',
    '-maxrate',
    '2600k',
    '-bufsize',
    '3000k',
    '-c:a',
    'aac',
    '-b:a',
    '160k',
  ];
  const inputs = ['-loop', '1', '-framerate', '25', '-t', '8', '-i', 'pan.png', '-f', 'lavfi', '-i', sound];
  await runTool(directory, 'ffmpeg', [
    '-v',
    'error',
    '-nostdin',
    ...inputs,
    '-filter_complex',
    picture,
    '-map',
    '[v]',
    '-map',
    '1:a',
    ...codecs,
    'clip.mp4',
  ]);
}

/** Generates 20 seconds of speech with tags. */
export async function talk(directory: string): Promise<void> {
  await writeFile(join(directory, 'talk.wav'), speech(20, 5));
  const tags = ['-metadata', 'title=Ridge path, a talk', '-metadata', 'artist=The mediajobs project'];
  await runTool(directory, 'ffmpeg', [
    '-v',
    'error',
    '-nostdin',
    '-i',
    'talk.wav',
    '-c:a',
    'libmp3lame',
    '-b:a',
    '256k',
    ...tags,
    'talk.mp3',
  ]);
}

/** Generates a file with the brand of an audio file that contains only subtitles. */
export async function silentFile(directory: string): Promise<void> {
  await writeFile(join(directory, 'lines.srt'), '1\n00:00:00,000 --> 00:00:03,000\nNo sound here\n');
  await runTool(directory, 'ffmpeg', [
    '-v',
    'error',
    '-nostdin',
    '-i',
    'lines.srt',
    '-c:s',
    'mov_text',
    '-brand',
    'M4A ',
    '-f',
    'mp4',
    'no-audio.m4a',
  ]);
}

/** Returns a WAV file of 48 kHz, stereo, 24 bits: the same tick ten times per second, so that it compresses well. */
export function metronome(seconds: number): Buffer {
  const [rate, bytes] = [48_000, 6];
  const tick = Buffer.alloc((rate / 10) * bytes);
  for (let i = 0; i < rate / 50; i += 1) {
    const value = Math.round(4_000_000 * Math.sin((2 * Math.PI * 1000 * i) / rate) * Math.exp(-i / 200));
    tick.writeIntLE(value, i * bytes, 3);
    tick.writeIntLE(value, i * bytes + 3, 3);
  }
  const data = Buffer.concat(Array.from({ length: seconds * 10 }, () => tick));
  return wavFile(data, { rate, bits: 24 });
}
