/**
 * 5,000 small mixed files of three accounts through one engine of the direct lane, good, odd and broken ones: memory of
 * the engine and of all its processes after each 500. `MEDIAJOBS_BENCH_FILES` sets another number.
 */
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import sharp from 'sharp';
import type { ErrorCode } from '#crds/contract/error-codes.ts';
import { startDirectEngine, type DirectRequest } from '#test/bench/direct-engine.ts';
import { mebibytesOf, treeOf } from '#test/bench/peers/process-memory.ts';
import { print } from '#test/bench/print-figures.ts';
import { makeFixtures } from '#test/fixtures/make-fixtures.ts';

type SoakFile = Omit<DirectRequest, 'tenant'> & {
  /** Number among each hundred files. */
  readonly share: number;
  /** Expected error code; absent: a result. */
  readonly refusal?: ErrorCode;
};

const FILES = Number(process.env['MEDIAJOBS_BENCH_FILES'] ?? 5000);
const STEP = 500;
const CALLERS = 4;
const TENANTS = ['a', 'b', 'c'];

const folder = await mkdtemp(join(tmpdir(), 'mediajobs-bench-'));
const files = mixed([...(await images()), ...(await documents(folder)), ...broken()]);
const engine = await startDirectEngine(folder);
try {
  print('files', 'engine MiB', 'with its processes', 'left files', 'seconds');
  for (let done = 0; done < FILES; done += STEP) {
    const startedAt = performance.now();
    let next = done;
    const caller = async (): Promise<void> => {
      for (let at = next++; at < Math.min(done + STEP, FILES); at = next++) await send(at);
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    const seconds = (performance.now() - startedAt) / 1000;
    // Pages of files count less while other processes on the machine use them too.
    const own = (pid: number): number => mebibytesOf(pid, 'Pss_Anon');
    const tree = treeOf(engine.pid).reduce((sum, pid) => sum + own(pid), 0);
    const figures = [own(engine.pid), tree, await leftFiles(), seconds];
    print(String(Math.min(done + STEP, FILES)), ...figures.map((figure) => figure.toFixed(0)));
  }
} finally {
  await engine.stop();
  await rm(folder, { recursive: true });
}

async function send(at: number): Promise<void> {
  const fileToSend = files[at % files.length];
  if (fileToSend === undefined) throw new Error('No files were given.');
  const { refusal, ...request } = fileToSend;
  const response = await engine.process({ ...request, tenant: TENANTS[at % TENANTS.length] ?? '' });
  const code = typeof response === 'string' ? response : undefined;
  if (code !== refusal)
    throw new Error(`${request.filename}: ${code ?? 'a result'} instead of ${refusal ?? 'a result'}`);
}

/** Everything that lies in the work folder but the private folder of the pool and the homes in it, once nothing goes any more. */
async function leftFiles(): Promise<number> {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return names.filter((name) => /(^|\/)(input|out|in|file)(\/|$)/.test(name)).length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await delay(100);
    return leftFiles();
  }
}

/** A hundred files in the proportions that they name, no kind in a row. */
function mixed(all: readonly SoakFile[]): SoakFile[] {
  const positions = all.flatMap((file) =>
    Array.from({ length: file.share }, (_, i) => ({ file, at: (i + 0.5) / file.share })),
  );
  return positions.toSorted((one, other) => one.at - other.at).map(({ file }) => file);
}

async function images(): Promise<SoakFile[]> {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  const picture = sharp({ create: { width: 320, height: 240, channels: 3, background: '#456', noise } });
  const [jpg, png, webp, gif, tiff] = await Promise.all([
    picture.clone().jpeg({ quality: 95 }).toBuffer(),
    picture.clone().png().toBuffer(),
    picture.clone().webp({ quality: 95 }).toBuffer(),
    picture.clone().gif().toBuffer(),
    picture.clone().tiff().toBuffer(),
  ]);
  const row = (filename: string, file: Buffer, options: SoakFile['options'], share: number): SoakFile => ({
    filename,
    file,
    options,
    share,
    operation: 'compress',
  });
  return [
    row('a.jpg', jpg, {}, 30),
    row('a.png', png, {}, 12),
    row('a.webp', webp, {}, 10),
    row('a.gif', gif, { image: { format: 'webp' } }, 8),
    row('a.tiff', tiff, { image: { format: 'png' } }, 6),
    row('b.jpg', jpg, { image: { format: 'avif' } }, 8),
    row('wrong-name.gif', jpg, {}, 4),
  ];
}

async function documents(root: string): Promise<SoakFile[]> {
  const made = await makeFixtures(root, ['font', 'pdf']);
  const bytesOf = async (name: string, format: string): Promise<Buffer> => {
    const found = made.find((one) => one.format === format && (name === '' || one.name === name));
    if (found === undefined) throw new Error(`There is no fixture ${name} of ${format}.`);
    return readFile(found.path);
  };
  const csv = Buffer.from(`name,count\n${'apple,1\n'.repeat(500)}`);
  return [
    { filename: 'a.csv', file: csv, operation: 'convert', options: { convert: { to: 'json' } }, share: 6 },
    {
      filename: 'a.ttf',
      file: await bytesOf('', 'ttf'),
      operation: 'convert',
      options: { convert: { to: 'woff2' } },
      share: 4,
    },
    { filename: 'a.pdf', file: await bytesOf('scan', 'pdf'), operation: 'strip_metadata', options: {}, share: 3 },
  ];
}

function broken(): SoakFile[] {
  const row = (filename: string, text: string, refusal: ErrorCode): SoakFile => ({
    filename,
    file: Buffer.from(text, 'latin1'),
    operation: 'compress',
    options: {},
    share: 3,
    refusal,
  });
  return [
    row('cut.jpg', '\xff\xd8\xff\xe0 no picture', 'processing_failed'),
    row('a.psd', '8BPS\0\0\0\0', 'unsupported_input'),
    row('cut.pdf', '%PDF-1.7\nnothing of a PDF follows', 'processing_failed'),
  ];
}
