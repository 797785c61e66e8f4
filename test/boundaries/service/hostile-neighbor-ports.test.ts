/** Access of another user of the machine to the ports and sockets of the whole service. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConnection } from '#api/embedded/connection.ts';
import { getText } from '#test/support/get-text.ts';
import { tcpPortsOf, unixSocketsOf } from '#test/support/listening-sockets.ts';
import { processesOf } from '#test/support/service-processes.ts';
import { useService } from '#test/support/use-service.ts';

const { service } = await useService();
const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
/** Id of the user `nobody` on most systems, who owns no file of the service. */
const STRANGER = 65_534;

const pids = (): number[] =>
  processesOf(service.data).flatMap(({ pid, role }) => (role === 'api' && isOfTest(pid) ? [] : [pid]));
const portOf = (url: string): number => Number(new URL(url).port);

/** Returns whether a test started the process: a second API of another file that runs, or has just ended. */
function isOfTest(pid: number): boolean {
  try {
    const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return readFileSync(`/proc/${parent}/cmdline`, 'utf8').includes('vitest');
  } catch {
    return true;
  }
}

describe('the service on one machine', () => {
  it('listens on its two public ports only', () => {
    const ports = tcpPortsOf(pids());
    expect(ports.toSorted()).toEqual([portOf(service.baseUrl), portOf(service.httpUrl)].toSorted());
  });

  it('serves metrics and health on sockets', async () => {
    const ops = Object.entries(readConnection(service.data)?.ops ?? {});
    expect(ops.map(([name]) => name).toSorted()).toEqual(['api', 'control', 'courier', 'engine', 'runs']);
    for (const [, url] of ops) {
      expect(url).toMatch(/^http\+unix:/);
      expect(await getText(`${url}/readyz`)).toEqual({ status: 200, body: 'ready\n' });
    }
  });
});

/** Script of the stranger, which prints the outcome of each attempt on each path. */
const ATTEMPTS = `
  const { connect, createServer } = require('node:net');
  const { dirname } = require('node:path');
  const fs = require('node:fs');
  const ended = (emitter, event) => new Promise((resolve) => {
    emitter.once(event, () => resolve('DONE')).once('error', ({ code }) => resolve(code));
  });
  const attempt = async (work) => {
    try { return (await work()) ?? 'DONE'; } catch ({ code }) { return code; }
  };
  const ATTEMPTS = {
    'connects to': (path) => ended(connect(path), 'connect'),
    'removes': (path) => fs.unlinkSync(path),
    'moves': (path) => fs.renameSync(path, path + '-old'),
    'listens beside': (path) => ended(createServer().listen(path + '-own'), 'listening'),
    'lists the folder of': (path) => void fs.readdirSync(dirname(path)),
    'moves the folder of': (path) => fs.renameSync(dirname(path), dirname(path) + '-old'),
    'opens to everyone': (path) => fs.chmodSync(dirname(path), 0o777),
  };
  (async () => {
    const came = {};
    for (const [name, work] of Object.entries(ATTEMPTS)) {
      came[name] = {};
      for (const path of JSON.parse(process.argv[1])) came[name][path] = await attempt(() => work(path));
    }
    console.log(JSON.stringify(came));
    process.exit();
  })();
`;

describe.runIf(isRoot)('another user of the machine', () => {
  let sockets: string[];
  let came: Record<string, Record<string, string>>;
  let mode: number;

  beforeAll(async () => {
    // The data folder may be readable; its content must not be.
    mode = (await stat(service.data)).mode & 0o777;
    await chmod(service.data, 0o755);
    sockets = unixSocketsOf(pids()).filter((path) => path.startsWith('/') && !path.startsWith('/proc/'));
    const user = ['--reuid', String(STRANGER), '--regid', String(STRANGER), '--clear-groups', '--no-new-privs'];
    const script = [process.execPath, '-e', ATTEMPTS, JSON.stringify(sockets)];
    const { stdout } = await run('setpriv', [...user, '--', ...script], { cwd: '/' });
    came = JSON.parse(stdout) as typeof came;
  });
  afterAll(() => chmod(service.data, mode));

  it('finds a socket for the engine, the files, the heartbeats and the metrics of four processes', () => {
    const folders = sockets.map((path) => path.split('/').at(-2) ?? '');
    for (const name of ['engine', 'files', 'heartbeat', 'ops-api', 'ops-control', 'ops-courier', 'ops-engine'])
      expect(folders.filter((folder) => folder.endsWith(name))).not.toEqual([]);
  });

  it.each([
    'connects to',
    'removes',
    'moves',
    'listens beside',
    'lists the folder of',
    'moves the folder of',
    'opens to everyone',
  ])('never %s a socket of the service', (attempt) => {
    const results = Object.entries(came[attempt] ?? {});
    expect(results.map(([path]) => path)).toEqual(sockets);
    for (const [path, code] of results)
      expect({ path, code }).toEqual({ path, code: expect.stringMatching(/^E(ACCES|PERM)$/) });
  });
});
