/** Video and sound: the engine as a job has it, beside ffmpeg with the same arguments and HandBrake. */
import { execFile } from 'node:child_process';
import { copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import { runInEngine } from '#test/bench/engine-run.ts';
import { engineDeps, workOn, type Fixture } from '#test/fixtures/engine-work.ts';
import { planCompress as planAudio } from '#worker-image/engine/media/audio-plan.ts';
import { probe } from '#worker-image/engine/media/probe.ts';
import { planCompress as planVideo } from '#worker-image/engine/media/video-plan.ts';
import { ffmpegArguments } from '#worker-image/tools/ffmpeg.ts';
import { OURS } from '../measured.ts';
import { makeSound, makeVideo } from '../media-samples.ts';
import { Samples, type Bench, type CaseFigures, type Row } from '../row.ts';
import { runProgram } from '../run-program.ts';

interface MediaCase {
  readonly source: 'video' | 'sound';
  readonly options: SentOptions;
  /** HandBrake's words for the same encoder; it writes no audio files. */
  readonly handBrake?: readonly string[];
}

const CASES: Readonly<Record<string, MediaCase>> = {
  '10 s of 1080p to H.264': {
    source: 'video',
    options: { video: { codec: 'h264' } },
    handBrake: ['--format', 'av_mp4', '--encoder', 'x264', '--encoder-preset', 'veryfast', '--quality', '24'],
  },
  '10 s of 1080p to H.265': {
    source: 'video',
    options: { video: { codec: 'h265' } },
    handBrake: ['--format', 'av_mp4', '--encoder', 'x265', '--encoder-preset', 'veryfast', '--quality', '27'],
  },
  '10 s of 1080p to VP9': {
    source: 'video',
    options: { video: { format: 'webm' } },
    handBrake: ['--format', 'av_webm', '--encoder', 'VP9', '--encoder-preset', 'fast', '--quality', '33'],
  },
  '5 min of mp3 to m4a': { source: 'sound', options: { audio: { format: 'm4a' } } },
  '5 min of mp3 to opus': { source: 'sound', options: { audio: { format: 'opus' } } },
};

export const media: Row = {
  title: 'Video and audio',
  about: `The engine as for a job, with a process of its own that waits for the file, and verification of the result; ffmpeg alone with the same
arguments; HandBrake with the same encoder, preset and constant quality. The video moves over a photo with grain. SSIM
compares the frames with the input's, in per cent.`,
  peers: ['ffmpeg', 'HandBrakeCLI'],
  columns: [
    { title: 'seconds', metrics: ['seconds'], digits: 2, noise: true, ratio: true },
    { title: 'bytes', metrics: ['bytes'], digits: 0, ratio: true },
    { title: 'SSIM, %', metrics: ['similarity'], digits: 2 },
  ],
  front: { speed: { metrics: ['seconds'], better: 'less' }, size: 'bytes', similarity: 'similarity' },
  cases: Object.keys(CASES),
  measure,
};

async function* measure(bench: Bench): AsyncGenerator<CaseFigures> {
  bench.say('the sources are made');
  const sources = { video: await makeVideo(bench), sound: await makeSound(bench) };
  for (const [name, one] of Object.entries(CASES))
    if (bench.wanted(name))
      yield { name, figures: await measureCase(bench, { name, one, source: sources[one.source] }) };
}

type Encode = (output: string) => Promise<number>;

async function measureCase(
  bench: Bench,
  { name, one, source }: { name: string; one: MediaCase; source: Fixture },
): Promise<CaseFigures['figures']> {
  const samples = new Samples();
  const encoders: Record<string, Encode> = {
    [OURS]: (output) => encodeOurs(source, one.options, output),
    ffmpeg: await ffmpegFor(source, one),
  };
  const { handBrake } = one;
  if (handBrake !== undefined)
    encoders['HandBrakeCLI'] = (output) =>
      runProgram('HandBrakeCLI', [
        '--input',
        source.path,
        '--output',
        output,
        ...handBrake,
        '--aencoder',
        soundOf(one),
      ]);
  for (let round = 0; round < bench.rounds; round += 1)
    for (const [who, encode] of Object.entries(encoders)) {
      bench.say(`${name}: round ${round + 1} of ${bench.rounds}, ${who}`);
      const output = join(bench.folder, 'encoded');
      samples.add(who, 'seconds', await encode(output));
      if (round > 0) continue;
      samples.add(who, 'bytes', (await stat(output)).size);
      if (one.source === 'video') samples.add(who, 'similarity', await similarity(source.path, output));
    }
  return samples.figures;
}

/** The service copies audio that needs no change. */
function soundOf({ options }: MediaCase): string {
  return options.video?.format === 'webm' ? 'opus' : 'copy:aac';
}

async function encodeOurs(source: Fixture, options: SentOptions, output: string): Promise<number> {
  const task = { path: source.path, operation: 'compress', options, isStartedAhead: true } as const;
  const { seconds, report } = await runInEngine(task, (path) => copyFile(path, output));
  if (report.result.kept_original) throw new Error('the engine returned the input unchanged');
  return seconds;
}

async function ffmpegFor(source: Fixture, { source: kind, options }: MediaCase): Promise<Encode> {
  const work = await workOn({ ...source, operation: 'compress', options });
  const facts = await probe(engineDeps(), work, work.input);
  const plan = kind === 'video' ? planVideo(facts, work.options.video) : planAudio(facts, work.options.audio);
  return (path) =>
    runProgram('ffmpeg', [
      '-y',
      ...ffmpegArguments({
        input: work.input,
        outputOptions: plan.outputOptions,
        output: { path, format: plan.format },
      }),
    ]);
}

/** Mean SSIM of the video, in percent. */
async function similarity(source: string, output: string): Promise<number> {
  const args = ['-i', output, '-i', source, '-lavfi', '[0:v][1:v]ssim', '-f', 'null', '-'];
  const { stderr } = await promisify(execFile)('ffmpeg', args, { maxBuffer: 64 * 1024 ** 2 });
  const found = /SSIM .*All:([\d.]+)/.exec(stderr)?.[1];
  if (found === undefined) throw new Error('ffmpeg printed no SSIM');
  return 100 * Number(found);
}
