import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseJsonOptions, resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import { RUN_CHANNEL, TERMINATION_NAME } from '#crds/contract/run-files.ts';
import type { RunSpec } from '#crds/contract/run-spec.ts';
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
  it.each([
    ['has LibreOffice waiting in the next engine process after a document', '1', [expect.stringMatching(/^office-/)]],
    ['has none waiting where the setting forbids it', '0', []],
  ])('%s', async (_what, ready, waiting) => {
    const worker = startWorker({ MEDIAJOBS_OFFICE_READY: ready });
    for (const name of ['first', 'second']) {
      expect(await worker.run(name)).toMatchObject({ outcome: 'succeeded', report: { result: { kind: 'word' } } });
      await expect.poll(nextEngineFiles, { timeout: 30_000 }).toEqual(waiting);
    }
    expect(host.outputs.map((output) => output.subarray(0, 5).toString())).toEqual(['%PDF-', '%PDF-']);
    await worker.stop();
  });
});

/** Returns the files in the root directory of the engine process that waits; null while another one is there. */
async function nextEngineFiles(): Promise<string[] | null> {
  const engines = (await readdir(directory)).filter((name) => name.startsWith('work-'));
  return engines.length === 1 ? readdir(join(directory, engines[0] ?? '')) : null;
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
  async function run(name: string): Promise<unknown> {
    const own = join(directory, name);
    await mkdir(own);
    const replied = new Promise<void>((resolve) => {
      onReply = resolve;
    });
    writeJsonLine(channel, { directory: own, spec: specOf(host.url) });
    await replied;
    return JSON.parse(await readFile(join(own, TERMINATION_NAME), 'utf8')) as unknown;
  }

  async function stop(): Promise<void> {
    channel.destroy();
    await exited;
  }

  return { run, stop };
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
