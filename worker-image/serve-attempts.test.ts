import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseJsonOptions, resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import { RUN_CHANNEL, TERMINATION_NAME } from '#crds/contract/run-files.ts';
import type { RunMessage, RunSpec } from '#crds/contract/run-spec.ts';
import { readJsonLines, writeJsonLine } from '#crds/process/message-lines.ts';
import { startStoreHost, type StoreHost } from '#test/support/store-host.ts';

const SCRIPT = join(import.meta.dirname, 'serve-attempts.ts');
const DOCUMENT = Buffer.from('{\\rtf1 Words of a document}');
let directory: string;
let host: StoreHost;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'serve-attempts-'));
  host = await startStoreHost({ input: DOCUMENT, etag: '"v1"' });
});
afterEach(async () => {
  await host.close();
  await rm(directory, { recursive: true, maxRetries: 5 });
});

describe('serve-attempts', () => {
  it('converts the documents of one tenant by one LibreOffice process, and those of another by another', async () => {
    const worker = startWorker({ MEDIAJOBS_OFFICE_READY: '1' });
    const offices: (readonly number[])[] = [];
    for (const [name, tenant] of Object.entries({ first: 'one', second: 'one', third: 'other' })) {
      const outcome = await worker.run(name, tenant);
      expect(outcome).toMatchObject({ outcome: 'succeeded', report: { result: { kind: 'word' } } });
      offices.push(await worker.offices());
    }
    const [first, second, third] = offices;
    expect(first).toHaveLength(1);
    expect(second).toEqual(first);
    expect(third?.filter((pid) => !first?.includes(pid))).toHaveLength(1);
    expect(host.outputs.map((output) => output.subarray(0, 5).toString())).toEqual(['%PDF-', '%PDF-', '%PDF-']);
    await worker.stop();
  });

  it('has a second LibreOffice waiting for another tenant after a pause', async () => {
    const worker = startWorker({ MEDIAJOBS_OFFICE_READY: '1' });
    await worker.run('first', 'one');
    const [own = 0] = await worker.offices();
    const others = async () => (await worker.offices()).filter((pid) => pid !== own);
    await expect.poll(others, { timeout: 30_000 }).toHaveLength(1);
    await worker.stop();
  });

  it('has none waiting where the setting forbids it', async () => {
    const worker = startWorker({ MEDIAJOBS_OFFICE_READY: '0' });
    for (const name of ['first', 'second']) {
      expect(await worker.run(name, 'one')).toMatchObject({ outcome: 'succeeded' });
      expect(await worker.offices()).toEqual([]);
    }
    await worker.stop();
  });
});

/** Returns the numbers of the processes of that name below a process. */
async function processesBelow(root: number, name: string): Promise<readonly number[]> {
  const entries = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const found = new Map<number, { readonly name: string; readonly parent: number }>();
  for (const pid of entries) {
    const [, comm, parent] =
      /\((.*)\) \S (\d+)/.exec(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')) ?? [];
    if (comm !== undefined) found.set(pid, { name: comm, parent: Number(parent) });
  }
  const isBelow = (pid: number): boolean => {
    const parent = found.get(pid)?.parent;
    return parent !== undefined && (parent === root || isBelow(parent));
  };
  return entries.filter((pid) => found.get(pid)?.name === name && isBelow(pid));
}

function startWorker(settings: Record<string, string>) {
  const child = spawn(process.execPath, [SCRIPT], {
    cwd: directory,
    env: { PATH: process.env.PATH, TMPDIR: directory, MEDIAJOBS_LOG_LEVEL: 'error', ...settings },
    stdio: ['pipe', 'ignore', 'inherit', 'pipe'],
  });
  const channel = child.stdio[RUN_CHANNEL] as Socket;
  let onReply = (): void => undefined;
  readJsonLines(channel, { maxBytes: 1000, onMessage: () => onReply() });
  const exited = new Promise((resolve) => child.once('exit', resolve));

  /** Runs an attempt to its end and returns its outcome. */
  async function run(name: string, tenant: string): Promise<unknown> {
    const own = join(directory, name);
    await mkdir(own);
    const replied = new Promise<void>((resolve) => {
      onReply = resolve;
    });
    const message: RunMessage = { directory: own, tenant, spec: specOf(host.url) };
    writeJsonLine(channel, message);
    await replied;
    return JSON.parse(await readFile(join(own, TERMINATION_NAME), 'utf8')) as unknown;
  }

  async function stop(): Promise<void> {
    channel.destroy();
    await exited;
  }

  return { run, stop, offices: () => processesBelow(child.pid ?? 0, 'soffice.bin') };
}

function specOf(url: string): RunSpec {
  return {
    jobId: 'job_00000000000000000000',
    attempt: 1,
    operation: 'convert',
    options: resolveOptions(parseJsonOptions({ convert: { to: 'pdf' } })),
    limits: fileLimits('payg'),
    features: { video: false, heicOutput: false },
    timeoutSeconds: 60,
    filename: 'words.rtf',
    dispatch: 'nonce',
    input: { etag: '"v1"', size: null },
    heartbeat: { url: `${url}/heartbeat`, token: 'beat-token', intervalSeconds: 0.2 },
  };
}
