/** The most memory that one large file takes in the engine. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { runInEngine, type EngineTask } from '#test/bench/engine-run.ts';
import { print } from '#test/bench/print-figures.ts';
import { engineDeps } from '#test/fixtures/engine-work.ts';
import { draw } from '#test/fixtures/make-media-fixtures.ts';

const CSV_BYTES = 500 * 1024 ** 2;
const CSV_LINES = 20_000;
/** About two gigabytes of noise without loss. */
const VIDEO_SECONDS = 18;

const folder = await mkdtemp(join(tmpdir(), 'mediajobs-bench-'));
try {
  print('peak memory', 'input MiB', 'MiB', 'seconds');
  const csv = join(folder, 'rows.csv');
  await pipeline(Readable.from(csvPieces()), createWriteStream(csv));
  for (const to of ['ndjson', 'tsv', 'html'] as const)
    await measure(`csv to ${to} (goal: at most 300)`, {
      path: csv,
      operation: 'convert',
      options: { convert: { to } },
    });
  await rm(csv);
  const video = await draw(engineDeps().run, folder, {
    format: 'mkv',
    args: [
      '-f',
      'lavfi',
      '-i',
      `testsrc2=size=1920x1080:rate=30:duration=${VIDEO_SECONDS},noise=alls=40:allf=t`,
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-qp',
      '0',
      '-pix_fmt',
      'yuv420p',
    ],
    timeoutSeconds: 900,
  });
  for (const codec of ['h265', 'h264'] as const)
    await measure(`video to ${codec} (goal: at most 1024)`, {
      path: video.path,
      operation: 'compress',
      options: { video: { codec } },
    });
} finally {
  await rm(folder, { recursive: true });
}

async function measure(name: string, task: EngineTask): Promise<void> {
  const { size } = await stat(task.path);
  const { peakMib, seconds } = await runInEngine({ ...task, watchesMemory: true });
  print(name, (size / 1024 ** 2).toFixed(0), peakMib.toFixed(0), seconds.toFixed(0));
}

function* csvPieces(): Generator<string> {
  yield 'id,name,note,amount\n';
  let bytes = 0;
  for (let first = 0; bytes < CSV_BYTES; first += CSV_LINES) {
    const lines = Array.from({ length: CSV_LINES }, (_, at) => {
      const id = String(first + at).padStart(20, '0');
      return `${id},"Name ${at}, of many","a ""quoted"" note ${at}",${at}.50\n`;
    });
    const piece = lines.join('');
    bytes += piece.length;
    yield piece;
  }
}
