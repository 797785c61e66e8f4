/** Office documents to PDF: the first one, one at a time, and four at once. */
import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runBenchJob } from '../bench-job.ts';
import { startBenchService } from '../bench-service.ts';
import { OURS } from '../measured.ts';
import type { ReadyPeer } from '../prepare-peers.ts';
import { peakMemory, treeOf } from '../process-memory.ts';
import { Samples, type Bench, type CaseFigures, type Row } from '../row.ts';
import { runProgram } from '../run-program.ts';
import { freePort, startServerProcess } from '../server-process.ts';
import { makeOfficeSamples } from '../office-samples.ts';

const AT_ONCE = 4;
const HIDDEN_UNOSERVER = join(import.meta.dirname, '../hidden-unoserver.py');
/** A converter that has not answered by then hangs: the slowest sample takes seconds. */
const LONGEST_MS = 120_000;

export const office: Row = {
  title: 'Office documents to PDF',
  about: `From sending the document to receiving the PDF. The service processes each as a job over HTTPS (upload, job, wait, download) and forks
a process from a loaded LibreOffice for every file; bare soffice (with a profile per index that was used before) and
libreoffice-convert start it anew; unoserver keeps one LibreOffice that converts one document after the other. It is started so that it opens documents
hidden: with a visible window, its default, LibreOffice 7.4 crashes on spreadsheets. "First" includes the start of
the servers: of the whole service, and of unoserver. Memory is that of the processes that convert.`,
  peers: ['soffice', 'unoserver', 'libreoffice-convert', 'Gotenberg'],
  columns: [
    { title: 'first, seconds', metrics: ['first'], digits: 2 },
    { title: 'one at a time, seconds', metrics: ['alone'], digits: 2, noise: true, ratio: true },
    { title: `${AT_ONCE} at once, seconds for all`, metrics: ['together'], digits: 2, noise: true, ratio: true },
    { title: `MiB, ${AT_ONCE} at once`, metrics: ['memory'], digits: 0 },
    { title: 'bytes', metrics: ['bytes'], digits: 0 },
  ],
  front: { speed: { metrics: ['alone', 'together'], better: 'less' } },
  cases: ['docx of 20 pages', 'xlsx of 2,000 rows', 'pptx of 20 slides'],
  measure,
};

/** A index is where one conversion runs at a time. */
interface Converter {
  readonly who: string;
  /** Writes `<name>.pdf` beside the source. Returns its path. */
  readonly convert: (source: string, index: number) => Promise<string>;
  readonly pids: () => readonly number[];
  readonly stop: () => Promise<void>;
}

async function* measure(bench: Bench): AsyncGenerator<CaseFigures> {
  const samples = await makeOfficeSamples(bench.folder);
  for (const name of office.cases.filter(bench.wanted)) {
    const source = samples[name];
    if (source !== undefined) yield await measureDocument(bench, name, source);
  }
}

async function measureDocument(bench: Bench, name: string, source: string): Promise<CaseFigures> {
  const samples = new Samples();
  const converters: Converter[] = [];
  const remarks: Record<string, string> = {};
  const unlessFailed = (converter: Converter, work: () => Promise<unknown>): Promise<unknown> =>
    remarks[converter.who] === undefined
      ? work().catch((error: unknown) => noteFailure(remarks, converter, error))
      : Promise.resolve();
  try {
    for (const start of starters(bench)) {
      const startedAt = performance.now();
      const converter = await start();
      converters.push(converter);
      bench.say(`${name}: first of ${converter.who}`);
      await unlessFailed(converter, async () => {
        const made = await convertCopy(bench, converter, { source, index: 0 });
        samples.add(converter.who, 'first', (performance.now() - startedAt) / 1000);
        samples.add(converter.who, 'bytes', (await stat(made)).size);
      });
    }
    // Profiles of the other indexes are made before seconds count.
    for (const converter of converters) await unlessFailed(converter, () => together(bench, converter, source));
    for (let round = 0; round < bench.rounds; round += 1)
      for (const converter of converters) {
        bench.say(`${name}: round ${round + 1} of ${bench.rounds}, ${converter.who}`);
        await unlessFailed(converter, async () => {
          samples.add(converter.who, 'alone', await seconds(() => convertCopy(bench, converter, { source, index: 0 })));
          samples.add(converter.who, 'together', await seconds(() => together(bench, converter, source)));
        });
      }
    for (const converter of converters)
      await unlessFailed(converter, async () => {
        const memory = await peakMemory(converter.pids, () => together(bench, converter, source));
        samples.add(converter.who, 'memory', memory);
      });
    return { name, figures: samples.figures, remarks };
  } finally {
    await Promise.all(converters.map((converter) => converter.stop()));
  }
}

/** The service itself must not fail. */
function noteFailure(remarks: Record<string, string>, { who }: Converter, error: unknown): void {
  if (who === OURS) throw error;
  const text = String(error).replaceAll(/\s+/g, ' ');
  // unoserver reports a fault of XML-RPC: its text is the part to read.
  const said = /faultString<\/name> ?<value><string>(.*?)<\/string>/u.exec(text)?.[1] ?? text;
  remarks[who] = `fails (${said.length > 100 ? `${said.slice(0, 100)} …` : said})`;
}

async function together(bench: Bench, converter: Converter, source: string): Promise<void> {
  const indexes = Array.from({ length: AT_ONCE }, (_, index) => index);
  await Promise.all(indexes.map((index) => convertCopy(bench, converter, { source, index })));
}

/** @throws Error when it fails or hangs. */
async function convertCopy(
  bench: Bench,
  converter: Converter,
  { source, index }: { source: string; index: number },
): Promise<string> {
  const stop = new AbortController();
  const hangs = delay(LONGEST_MS, undefined, { signal: stop.signal }).then((): never => {
    throw new Error(`no response within ${LONGEST_MS / 1000} seconds`);
  });
  hangs.catch(() => undefined);
  const copy = await copyOf(bench, source);
  return Promise.race([converter.convert(copy, index), hangs]).finally(() => stop.abort());
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

let copies = 0;

/** Each conversion has a file of its own, in a folder of its own. */
async function copyOf({ folder }: Bench, source: string): Promise<string> {
  const own = join(folder, `copy-${(copies += 1)}`);
  await mkdir(own);
  const copy = join(own, basename(source));
  await copyFile(source, copy);
  return copy;
}

function starters(bench: Bench): (() => Promise<Converter>)[] {
  const { peers } = bench;
  const [unoserver, node, gotenberg] = [
    peers.get('unoserver'),
    peers.get('libreoffice-convert'),
    peers.get('Gotenberg'),
  ];
  return [
    () => startOurs(bench),
    () => startSoffice(bench),
    ...(node === undefined ? [] : [() => startNodePackage(node)]),
    ...(unoserver === undefined ? [] : [() => startUnoserver(bench, unoserver)]),
    ...(gotenberg === undefined ? [] : [() => startGotenberg(gotenberg)]),
  ];
}

let homes = 0;

async function freshHome({ folder }: Bench): Promise<string> {
  const home = join(folder, `home-${(homes += 1)}`);
  await mkdir(home);
  return home;
}

async function startOurs(bench: Bench): Promise<Converter> {
  const service = await startBenchService(await freshHome(bench));
  return {
    who: OURS,
    convert: async (source) => {
      const file = { bytes: await readFile(source), filename: basename(source) };
      const made = await runBenchJob(service, { ...file, operation: 'convert', options: { convert: { to: 'pdf' } } });
      return writeBeside(source, made);
    },
    pids: () =>
      service
        .processes()
        .filter(({ ofJob }) => ofJob)
        .map(({ pid }) => pid),
    stop: service.stop,
  };
}

async function startSoffice(bench: Bench): Promise<Converter> {
  const home = await freshHome(bench);
  const running = new Set<number>();
  return {
    who: 'soffice',
    convert: async (source, index) => {
      const profile = `-env:UserInstallation=file://${home}/profile-${index}`;
      const args = [profile, '--headless', '--convert-to', 'pdf', '--outdir', join(source, '..'), source];
      await runProgram('soffice', args, { onStart: (pid) => running.add(pid) });
      return besides(source);
    },
    pids: () => [...running].flatMap(treeOf),
    stop: async () => {},
  };
}

type Convert = (
  document: Buffer,
  format: string,
  filter: undefined,
  done: (error: unknown, made: Buffer) => void,
) => void;

async function startNodePackage({ folder }: ReadyPeer): Promise<Converter> {
  const load = createRequire(join(folder, 'package.json'));
  const { convert } = load('libreoffice-convert') as { convert: Convert };
  let working = 0;
  let standing = new Set<number>();
  return {
    who: 'libreoffice-convert',
    convert: async (source) => {
      if (working === 0) standing = new Set(treeOf(process.pid));
      working += 1;
      const document = await readFile(source);
      const made = await new Promise<Buffer>((resolve, reject) => {
        convert(document, 'pdf', undefined, (error, bytes) =>
          error == null ? resolve(bytes) : reject(new Error('libreoffice-convert failed', { cause: error })),
        );
      }).finally(() => (working -= 1));
      return writeBeside(source, made);
    },
    // It does not report the processes that it starts: they are the new children of this one.
    pids: () => treeOf(process.pid).filter((pid) => !standing.has(pid)),
    stop: async () => {},
  };
}

async function startUnoserver(bench: Bench, { folder }: ReadyPeer): Promise<Converter> {
  const [port, unoPort] = [await freePort(), await freePort()];
  const profile = join(await freshHome(bench), 'profile');
  const args = ['--interface', '127.0.0.1', '--port', String(port), '--uno-port', String(unoPort)];
  const call = async (method: string, params: string): Promise<string> => {
    const body = `<?xml version="1.0"?><methodCall><methodName>${method}</methodName><params>${params}</params></methodCall>`;
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'text/xml' },
    });
    return response.text();
  };
  const server = await startServerProcess({
    who: 'unoserver',
    file: join(folder, 'bin', 'python'),
    args: [HIDDEN_UNOSERVER, ...args, '--user-installation', profile],
    isUp: async () => (await call('info', '')).includes('unoserver'),
  });
  const param = (value: string): string => `<param><value>${value}</value></param>`;
  const string = (value: string): string => param(`<string>${value}</string>`);
  return {
    who: 'unoserver',
    convert: async (source) => {
      const output = besides(source);
      const said = await call('convert', [string(source), param('<nil/>'), string(output), string('pdf')].join(''));
      if (said.includes('<fault>'))
        throw new Error(`unoserver: ${/RuntimeError[^.]*/.exec(said)?.[0] ?? said.slice(0, 300)}`);
      return output;
    },
    ...server,
  };
}

async function startGotenberg({ folder: binary }: ReadyPeer): Promise<Converter> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const server = await startServerProcess({
    who: 'Gotenberg',
    file: binary,
    args: [`--api-port=${port}`, '--api-bind-ip=127.0.0.1'],
    isUp: async () => (await fetch(`${base}/health`)).ok,
  });
  return {
    who: 'Gotenberg',
    convert: async (source) => {
      const form = new FormData();
      form.set('files', new Blob([new Uint8Array(await readFile(source))]), basename(source));
      const response = await fetch(`${base}/forms/libreoffice/convert`, { method: 'POST', body: form });
      if (!response.ok) throw new Error(`Gotenberg answered ${response.status}`);
      return writeBeside(source, Buffer.from(await response.arrayBuffer()));
    },
    ...server,
  };
}

function besides(source: string): string {
  return source.replace(/\.\w+$/, '.pdf');
}

async function writeBeside(source: string, bytes: Buffer): Promise<string> {
  await writeFile(besides(source), bytes);
  return besides(source);
}
