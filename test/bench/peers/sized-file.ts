/** What one file takes in the running service: CPU time of everything that works for it, its own memory, and the wait. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FormData } from 'undici';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import { runBenchJob } from './bench-job.ts';
import { ofDirectLane, startBenchService, type BenchService } from './bench-service.ts';
import { OURS, type Figure } from './measured.ts';
import { cpuOfWork } from './process-cpu.ts';
import { peakMemory } from './process-memory.ts';
import { Samples, type Bench, type CaseFigures } from './row.ts';

export interface SizedFile {
  readonly lane: 'direct' | 'job';
  readonly filename: string;
  readonly operation: 'compress' | 'convert';
  readonly options: SentOptions;
  /** `folder` of the bench is the file's own. */
  readonly bytes: (bench: Bench) => Promise<Buffer>;
}

export function direct(filename: string, options: SentOptions, bytes: SizedFile['bytes']): SizedFile {
  return { lane: 'direct', filename, operation: 'compress', options, bytes };
}

export function job(filename: string, options: SentOptions, bytes: SizedFile['bytes']): SizedFile {
  return { lane: 'job', filename, operation: 'compress', options, bytes };
}

export function conversion(filename: string, to: 'pdf' | 'json' | 'xlsx', bytes: SizedFile['bytes']): SizedFile {
  return { lane: 'job', filename, operation: 'convert', options: { convert: { to } }, bytes };
}

export interface Sizing {
  readonly bench: Bench;
  readonly service: BenchService;
  /** Seconds of CPU a second. */
  readonly atRest: number;
}

/** Starts a service and measures the cases that are wanted, one after the other. */
export async function* measureCases<Case>(
  bench: Bench,
  cases: Readonly<Record<string, Case>>,
  figuresOf: (sizing: Sizing, name: string, one: Case) => Promise<readonly Figure[]>,
): AsyncGenerator<CaseFigures> {
  const service = await startBenchService(bench.folder);
  try {
    const sizing = { bench, service, atRest: await cpuAtRest(service) };
    for (const [name, one] of Object.entries(cases))
      if (bench.wanted(name)) yield { name, figures: await figuresOf(sizing, name, one) };
  } finally {
    await service.stop();
  }
}

/** Measures the file in all rounds: `cpu` and `seconds` in seconds, `memory` in MiB. */
export async function measureSizedFile(
  { bench, service, atRest }: Sizing,
  name: string,
  file: SizedFile,
): Promise<readonly Figure[]> {
  const folder = join(bench.folder, 'samples', name.replaceAll(/\W+/g, '-'));
  await mkdir(folder, { recursive: true });
  const bytes = await file.bytes({ ...bench, folder });
  const samples = new Samples();
  const work = (): Promise<unknown> =>
    file.lane === 'job' ? runBenchJob(service, { ...file, bytes }) : sendDirect(service, file, bytes);
  await work();
  // What is tidied up after the response counts too.
  const workAndRest = (): Promise<unknown> => work().then(() => delay(SETTLE_MS));
  for (let round = 0; round < bench.rounds; round += 1) {
    bench.say(`${name}: round ${round + 1} of ${bench.rounds}`);
    const startedAt = performance.now();
    await work();
    const seconds = (performance.now() - startedAt) / 1000;
    samples.add(OURS, 'seconds', seconds);
    const cpu = await cpuOfWork(service.processes, workAndRest);
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

async function cpuAtRest(service: BenchService): Promise<number> {
  await delay(REST_MS);
  return (await cpuOfWork(service.processes, () => delay(REST_MS))) / (REST_MS / 1000);
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
