/** CPU profile of the service's processes under load: shares by package and folder, and the hottest functions. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { profile, type ProfiledCode } from '#test/bench/cpu-profile.ts';
import { closedLoop } from '#test/bench/peers/closed-loop.ts';
import { runBenchJob } from '#test/bench/peers/bench-job.ts';
import { startBenchService } from '#test/bench/peers/bench-service.ts';
import { print } from '#test/bench/print-figures.ts';
import type { ProcessRole } from '#test/support/service-processes.ts';

const SECONDS = 8;
const CALLERS = 8;
const MODULES = 12;
const FUNCTIONS = 12;
const ROWS = Buffer.from('id,name\n0010,Ada\n0011,Grace\n');

const folder = await mkdtemp(join(tmpdir(), 'mediajobs-bench-'));
const service = await startBenchService(folder);
const { api } = service;
const image = await sharp({ create: { width: 640, height: 480, channels: 3, background: '#88a' } })
  .jpeg()
  .toBuffer();
const job = {
  bytes: ROWS,
  filename: 'people.csv',
  operation: 'convert',
  options: { convert: { to: 'json' } },
} as const;
await runBenchJob(service, job);
const list = (await api('GET', '/v1/jobs')).json();
const id = String(list['data'][0]['id']);
const creation = { operation: 'compress', input: { url: 'https://files.invalid/a.jpg' } };

/** Creates a job whose input host never resolves. Cancels it, because the number of unfinished jobs is limited. */
async function createAndCancel(): Promise<void> {
  const created = await api('POST', '/v1/jobs', { json: creation });
  if (created.status !== 202) throw new Error(`answered with ${created.status}: ${created.bytes.toString()}`);
  await expectStatus(200, api('DELETE', `/v1/jobs/${String(created.json()['id'])}`));
}

const LOADS: readonly (readonly [name: string, role: ProcessRole, send: () => Promise<unknown>])[] = [
  ['GET /v1/jobs/{id}, api', 'api', () => expectStatus(200, api('GET', `/v1/jobs/${id}`))],
  ['POST and DELETE /v1/jobs, api', 'api', createAndCancel],
  ['small jobs to their end, recorder and controller', 'control', () => runBenchJob(service, job)],
  ['small images, api', 'api', () => expectStatus(200, api('POST', '/v1/compress', { body: image }))],
  ['small images, engine parent', 'engine', () => expectStatus(200, api('POST', '/v1/compress', { body: image }))],
];
try {
  for (const [name, role, send] of LOADS) {
    const { pid = 0 } = service.processes().find((one) => one.role === role && !one.ofJob) ?? {};
    const load = (): Promise<unknown> => closedLoop({ callers: CALLERS, seconds: SECONDS, send });
    const { busy, code } = await profile(pid, load);
    print(name, `busy ${(100 * busy).toFixed(0)} %`);
    printShares(byModule(code).slice(0, MODULES));
    printShares(
      code.slice(0, FUNCTIONS).map(({ module, functionName, share }) => [`${module}: ${functionName}`, share]),
    );
  }
} finally {
  await service.stop();
  await rm(folder, { recursive: true });
}

function byModule(code: readonly ProfiledCode[]): [module: string, share: number][] {
  const groups = Map.groupBy(code, ({ module }) => module);
  const sums = [...groups].map(([module, all]): [string, number] => [
    module,
    all.reduce((sum, { share }) => sum + share, 0),
  ]);
  return sums.toSorted((one, other) => other[1] - one[1]);
}

function printShares(rows: readonly (readonly [name: string, share: number])[]): void {
  for (const [name, share] of rows) print(`  ${name}`.slice(0, 100), `${(100 * share).toFixed(1)} %`);
  print('');
}

async function expectStatus(status: number, response: ReturnType<typeof api>): Promise<void> {
  const { status: found, bytes } = await response;
  if (found !== status) throw new Error(`answered with ${found}: ${bytes.toString()}`);
}
