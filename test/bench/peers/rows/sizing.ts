/** What one file of each kind takes: seconds of CPU of everything that works for it, its own memory, and how long it is waited for. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FormData } from 'undici';
import sharp from 'sharp';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import { wholePicture } from '#test/bench/calibration-set.ts';
import { fetchPdfSamples } from '#test/bench/pdf-samples.ts';
import { runBenchJob } from '../bench-job.ts';
import { ofDirectLane, startBenchService, type BenchService } from '../bench-service.ts';
import { csvPieces } from '../csv-pieces.ts';
import { OURS } from '../measured.ts';
import { makeSound, makeVideo } from '../media-samples.ts';
import { makeOfficeSamples } from '../office-samples.ts';
import { cpuOfWork } from '../process-cpu.ts';
import { peakMemory } from '../process-memory.ts';
import { Samples, type Bench, type CaseFigures, type Row } from '../row.ts';

interface SizedFile {
  readonly lane: 'direct' | 'job';
  readonly filename: string;
  readonly operation: 'compress' | 'convert';
  readonly options: SentOptions;
  readonly bytes: (bench: Bench) => Promise<Buffer>;
}

const MIB = 1024 ** 2;
const FILES: Readonly<Record<string, SizedFile>> = {
  'photo of 12 megapixels, jpg': direct('photo.jpg', { image: { format: 'jpg', resize: false } }, photo),
  'photo of 12 megapixels to webp': direct('photo.jpg', { image: { format: 'webp', resize: false } }, photo),
  'photo of 12 megapixels to avif': direct('photo.jpg', { image: { format: 'avif', resize: false } }, photo),
  'pdf of 14 pages': direct('paper.pdf', {}, paper),
  'the same photo as a job': job('photo.jpg', { image: { format: 'jpg', resize: false } }, photo),
  '10 MB of csv to json': conversion('rows.csv', 'json', async () => Buffer.from([...csvPieces(10 * MIB)].join(''))),
  'docx of 20 pages to pdf': conversion('report.docx', 'pdf', report),
  '5 min of mp3 to m4a': job('sound.mp3', { audio: { format: 'm4a' } }, async (bench) =>
    readFile((await makeSound(bench)).path),
  ),
  '10 s of 1080p to H.264': job('view.mp4', { video: { codec: 'h264' } }, video),
  '10 s of 1080p to H.265': job('view.mp4', { video: { codec: 'h265' } }, video),
};

export const sizing: Row = {
  title: 'What a file takes',
  about: `One file at a time through the running service. Seconds of CPU are those of all its processes, PostgreSQL and Redis too, less
what they take at rest; memory is the most that the processes of this one file held together.`,
  peers: [],
  columns: [
    { title: 'CPU seconds', metrics: ['cpu'], digits: 2, noise: true },
    { title: 'seconds', metrics: ['seconds'], digits: 2, noise: true },
    { title: 'MiB', metrics: ['memory'], digits: 0 },
  ],
  cases: Object.keys(FILES),
  measure,
};

async function* measure(bench: Bench): AsyncGenerator<CaseFigures> {
  const service = await startBenchService(bench.folder);
  try {
    const atRest = await cpuAtRest(service);
    for (const [name, file] of Object.entries(FILES)) {
      if (!bench.wanted(name)) continue;
      const own = { ...bench, folder: join(bench.folder, `sample-${file.filename}`) };
      await mkdir(own.folder, { recursive: true });
      yield { name, figures: await measureFile(bench, { name, service, file, bytes: await file.bytes(own), atRest }) };
    }
  } finally {
    await service.stop();
  }
}

interface Sizing {
  readonly name: string;
  readonly service: BenchService;
  readonly file: SizedFile;
  readonly bytes: Buffer;
  readonly atRest: number;
}

async function measureFile(
  bench: Bench,
  { name, service, file, bytes, atRest }: Sizing,
): Promise<CaseFigures['figures']> {
  const samples = new Samples();
  const work = (): Promise<unknown> =>
    file.lane === 'job' ? runBenchJob(service, { ...file, bytes }) : sendDirect(service, file, bytes);
  await work();
  const everything = (): number[] => service.processes().map(({ pid }) => pid);
  // What is tidied up after the response counts too.
  const workAndRest = (): Promise<unknown> => work().then(() => delay(SETTLE_MS));
  for (let round = 0; round < bench.rounds; round += 1) {
    bench.say(`${name}: round ${round + 1} of ${bench.rounds}`);
    const startedAt = performance.now();
    await work();
    const seconds = (performance.now() - startedAt) / 1000;
    samples.add(OURS, 'seconds', seconds);
    const cpu = await cpuOfWork(everything, workAndRest);
    samples.add(OURS, 'cpu', cpu - atRest * (seconds + SETTLE_MS / 1000));
  }
  const isOfFile = file.lane === 'job' ? ({ ofJob }: Process): boolean => ofJob : isEngineWork;
  const pids = (): number[] =>
    service
      .processes()
      .filter(isOfFile)
      .map(({ pid }) => pid);
  samples.add(OURS, 'memory', await peakMemory(pids, work));
  return samples.figures;
}

type Process = ReturnType<BenchService['processes']>[number];

/** Of the direct lane, but for the two that stand by. */
function isEngineWork(one: Process): boolean {
  return ofDirectLane(one) && one.role !== 'api' && one.role !== 'engine';
}

const SETTLE_MS = 1000;
const REST_MS = 5000;

/** Seconds of CPU a second. */
async function cpuAtRest(service: BenchService): Promise<number> {
  await delay(REST_MS);
  const everything = (): number[] => service.processes().map(({ pid }) => pid);
  return (await cpuOfWork(everything, () => delay(REST_MS))) / (REST_MS / 1000);
}

async function sendDirect(
  { api }: BenchService,
  { filename, operation, options }: SizedFile,
  bytes: Buffer,
): Promise<void> {
  const form = new FormData();
  form.set('options', JSON.stringify(options));
  form.set('file', new Blob([new Uint8Array(bytes)]), filename);
  const response = await api('POST', `/v1/${operation}`, { body: form });
  if (response.status !== 200)
    throw new Error(`${filename} was answered with ${response.status}: ${response.bytes.toString()}`);
}

function direct(filename: string, options: SentOptions, bytes: SizedFile['bytes']): SizedFile {
  return { lane: 'direct', filename, operation: 'compress', options, bytes };
}

function job(filename: string, options: SentOptions, bytes: SizedFile['bytes']): SizedFile {
  return { lane: 'job', filename, operation: 'compress', options, bytes };
}

function conversion(filename: string, to: 'pdf' | 'json', bytes: SizedFile['bytes']): SizedFile {
  return { lane: 'job', filename, operation: 'convert', options: { convert: { to } }, bytes };
}

async function photo({ cache }: Bench): Promise<Buffer> {
  const whole = await wholePicture(cache, 'sunset_by_Aitzol_Berasategi.jpg');
  return sharp(whole).resize(4000, 3000, { fit: 'cover' }).jpeg({ quality: 92 }).toBuffer();
}

async function paper({ folder }: Bench): Promise<Buffer> {
  const samples = await fetchPdfSamples(folder);
  return readFile(samples.find(({ what }) => what.startsWith('paper'))?.path ?? '');
}

async function report({ folder }: Bench): Promise<Buffer> {
  return readFile((await makeOfficeSamples(folder))['docx of 20 pages'] ?? '');
}

async function video(bench: Bench): Promise<Buffer> {
  return readFile((await makeVideo(bench)).path);
}
