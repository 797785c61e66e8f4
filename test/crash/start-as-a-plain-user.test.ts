/** The service of a user without privileges, who cannot give its processes users of their own. */
import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runService, type RunningService } from '#api/embedded/run-service.ts';
import { makeApiClient, type ApiClient } from '#test/support/api-client.ts';
import { runJob } from '#test/support/run-through.ts';
import { processesOf, type ProcessRole } from '#test/support/service-processes.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
/** When the tests run as root: nobody. PostgreSQL demands a user that has an account. */
const uid = isRoot ? 65_534 : (process.getuid?.() ?? 0);
const asUser = isRoot ? ['--reuid', String(uid), '--regid', String(uid), '--clear-groups', '--no-new-privs', '--'] : [];
const MEDIACTL = new URL('../../api/mediactl.ts', import.meta.url).pathname;
const file = { bytes: Buffer.from('id,name\n0010,Ada\n'), filename: 'people.csv' };
const toJson = { operation: 'convert', options: { convert: { to: 'json' } } };

/** Its parents are open to every user, which TMPDIR of a test run need not be. */
const home = mkdtempSync('/tmp/mediajobs-plain-user-');
const data = path.join(home, 'data');
let service: RunningService | null = null;
let api: ApiClient | null = null;
let key = '';
const problems: string[] = [];

function start(): Promise<RunningService> {
  return runService({
    data,
    settings: { HOME: data, TMPDIR: '/tmp' },
    prefix: ['setpriv', ...asUser],
    onProblem: (line) => problems.push(line),
  });
}

async function mediactl(...words: string[]): Promise<Record<string, unknown>> {
  const { stdout } = await run('setpriv', [...asUser, process.execPath, MEDIACTL, '--data', data, ...words, '--json']);
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe('the service of a plain user', () => {
  beforeAll(async () => {
    chmodSync(home, 0o755);
    mkdirSync(data, { mode: 0o700 });
    if (isRoot) chownSync(data, uid, uid);
    service = await start();
    const { id } = await mediactl('account', 'create', '--name', 'test', '--plan', 'growth', '--payment-method');
    const made = await mediactl('key', 'create', '--account', String(id), '--mode', 'live', '--name', 'test');
    key = String(made['key']);
    api = makeApiClient(service, key);
  }, 180_000);
  afterAll(async () => {
    await api?.close();
    await service?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  it('starts without a problem for the operator', () => {
    expect(problems).toEqual([]);
  });

  it('runs every process, the servers too, as that user without capabilities', () => {
    const processes = processesOf(data);
    const servers: readonly ProcessRole[] = [
      'supervisor',
      'api',
      'control',
      'courier',
      'runs',
      'engine',
      'postgres',
      'redis',
    ];
    expect(processes.map(({ role }) => role)).toEqual(expect.arrayContaining([...servers]));
    for (const { pid, role } of processes) {
      expect(statSync(`/proc/${pid}`).uid).toBe(uid);
      // Processes of the isolation have capabilities in a namespace of their own.
      if (!servers.includes(role)) continue;
      expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^CapEff:\t0+$/m);
    }
  });

  it('keeps the data folder and the file store private to that user', () => {
    for (const name of ['.', 'files', 'run', 'log']) {
      const { uid: owner, mode } = statSync(path.join(data, name));
      expect([name, owner, mode & 0o077]).toEqual([name, uid, 0]);
    }
  });

  it('processes direct requests and jobs', async () => {
    const direct = await api?.('POST', '/v1/convert?to=json&filename=people.csv', {
      body: file.bytes,
      headers: { 'content-type': 'application/octet-stream' },
    });
    expect(direct).toMatchObject({ status: 200 });
    expect(await runJob(api as ApiClient, file, toJson)).toMatchObject({ status: 'succeeded' });
  });

  it('starts again on its data folder after a stop', async () => {
    await service?.stop();
    await api?.close();
    expect(processesOf(data)).toEqual([]);
    service = await start();
    api = makeApiClient(service, key);
    expect((await api('GET', '/v1/jobs')).json()['data']).toHaveLength(1);
    await service.stop();
    expect(processesOf(data)).toEqual([]);
  }, 120_000);
});
