/** One minute of 1080p video through the engine, and through ffmpeg alone with the same arguments. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInEngine } from '#test/bench/engine-run.ts';
import { median, print } from '#test/bench/print-figures.ts';
import { draw } from '#test/fixtures/make-media-fixtures.ts';
import { engineDeps, workOn } from '#test/fixtures/engine-work.ts';
import { probe } from '#worker-image/engine/media/probe.ts';
import { planCompress } from '#worker-image/engine/media/video-plan.ts';
import { ffmpegArguments } from '#worker-image/tools/ffmpeg.ts';

const RUNS = 3;
const SECONDS = 60;
const OPTIONS = { video: { codec: 'h264' } } as const;

const folder = await mkdtemp(join(tmpdir(), 'mediajobs-bench-'));
try {
  const source = await draw(engineDeps().run, folder, {
    format: 'mp4',
    args: [
      '-f',
      'lavfi',
      '-i',
      `testsrc2=size=1920x1080:rate=30:duration=${SECONDS},noise=alls=6:allf=t`,
      '-f',
      'lavfi',
      '-i',
      `sine=duration=${SECONDS}`,
      '-c:a',
      'aac',
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-crf',
      '18',
      '-pix_fmt',
      'yuv420p',
    ],
    timeoutSeconds: 900,
  });
  const work = await workOn({ ...source, operation: 'compress', options: OPTIONS });
  const plan = planCompress(await probe(engineDeps(), work, work.input), work.options.video);
  const output = { path: join(folder, 'alone.mp4'), format: plan.format } as const;
  const args = ffmpegArguments({ input: work.input, outputOptions: plan.outputOptions, output });
  const ratios = [];
  print('video, seconds', 'engine', 'ffmpeg', 'ratio');
  for (let run = 0; run < RUNS; run += 1) {
    const [bare, engine] = [
      await timeBare(args),
      await runInEngine({
        ...source,
        operation: 'compress',
        options: OPTIONS,
      }),
    ];
    ratios.push(engine.seconds / bare);
    print(`  1080p, ${SECONDS} s`, engine.seconds.toFixed(1), bare.toFixed(1), (engine.seconds / bare).toFixed(3));
  }
  print('median of the ratios (goal: at most 1.03)', '', '', median(ratios).toFixed(3));
} finally {
  await rm(folder, { recursive: true });
}

async function timeBare(args: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const child = spawn('ffmpeg', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`ffmpeg ended with ${code}`);
  return (performance.now() - startedAt) / 1000;
}
