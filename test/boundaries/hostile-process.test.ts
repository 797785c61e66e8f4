/** Access of a compromised process to the other processes of a service on one machine. Needs root. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promisify } from 'node:util';
import { runService, type RunningService } from '#api/embedded/run-service.ts';
import { processesOf, type ProcessRole } from '#test/support/service-processes.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const ROLES: readonly ProcessRole[] = ['api', 'control', 'courier', 'runs', 'engine'];

let data: string;
let service: RunningService;

function statusOf(role: ProcessRole): Record<string, string> {
  const { pid } = processesOf(data).find((one) => one.role === role) ?? { pid: 0 };
  const lines = readFileSync(`/proc/${pid}/status`, 'utf8').trim().split('\n');
  return { Pid: String(pid), ...Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2) as [string, string])) };
}

function userOf(role: ProcessRole): string {
  return statusOf(role)['Uid']?.split('\t')[0] ?? '';
}

/** Runs a shell command with user and namespaces of the process. Returns whether it succeeds. */
async function succeedsAs(role: ProcessRole, command: string): Promise<boolean> {
  const { Pid: pid = '', Groups: groups = '' } = statusOf(role);
  const uid = userOf(role);
  const further = groups.trim() === '' ? ['--clear-groups'] : ['--groups', groups.trim().replaceAll(' ', ',')];
  const identity = ['setpriv', '--reuid', uid, '--regid', uid, ...further, '--no-new-privs'];
  const line = ['--target', pid, '--mount', '--', ...identity, 'sh', '-c', command, 'sh', data];
  return run('nsenter', line).then(
    () => true,
    () => false,
  );
}

const connects = (socket: string): string =>
  `/usr/bin/python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$1/run/${socket}"`;

describe.runIf(isRoot)('a compromised process of the service', () => {
  beforeAll(async () => {
    data = mkdtempSync(path.join(tmpdir(), 'mediajobs-process-'));
    service = await runService({ data, onProblem: () => undefined });
  }, 180_000);
  afterAll(async () => {
    await service.stop();
    rmSync(data, { recursive: true, force: true });
  });

  it.each([...ROLES, 'postgres', 'redis'] as const)('has no privileges and cannot gain any: %s', (role) => {
    expect(statusOf(role)).toMatchObject({
      CapInh: '0000000000000000',
      CapPrm: '0000000000000000',
      CapEff: '0000000000000000',
      CapBnd: '0000000000000000',
      CapAmb: '0000000000000000',
      NoNewPrivs: '1',
    });
    expect(Number(userOf(role))).toBeGreaterThan(0);
  });

  it('shares its user with no other process of the service', () => {
    expect(new Set(ROLES.map(userOf)).size).toBe(ROLES.length);
  });

  const attempts: readonly (readonly [role: ProcessRole, what: string, command: string])[] = [
    ...(['engine', 'runs'] as const).flatMap((role) =>
      [
        ['the secrets', 'cat "$1/secrets.json"'],
        ['the addresses of the service', 'cat "$1/run/connection.json"'],
        ['the key of the certificate', 'cat "$1/run/tls/key.pem" "$1/tls/key.pem"'],
        ['the key of the authority', 'cat "$1/tls/ca.key"'],
        ['the file store', 'ls "$1/files"'],
        ['the cluster of PostgreSQL', 'ls "$1/postgres"'],
        ['the log of the API', 'cat "$1/log/api.log"'],
        ['a connection to PostgreSQL', connects('postgres/.s.PGSQL.5432')],
        ['a connection to Redis', connects('redis/redis.sock')],
      ].map(([what = '', command = '']) => [role, what, command] as const),
    ),
    ['engine', 'the files of running jobs', 'ls "$1/work/runs"'],
    ['engine', 'the file store of the API', connects('files/socket')],
    ['engine', "the controller's heartbeats", connects('heartbeat/socket')],
    ['runs', 'the engine of the direct lane', connects('engine/socket')],
    ['courier', 'the engine of the direct lane', connects('engine/socket')],
    ['engine', 'the process that runs jobs', connects('runs/socket')],
    ['runs', 'the files of direct requests in flight', 'ls "$1/work/engine"'],
    ['courier', 'the key of the certificate', 'cat "$1/run/tls/key.pem"'],
    ['courier', 'Redis', connects('redis/redis.sock')],
    ['courier', 'the process that runs jobs', connects('runs/socket')],
    ['api', 'the secrets', 'cat "$1/secrets.json"'],
    ['api', 'the key of the authority', 'cat "$1/tls/ca.key"'],
    ['api', 'the process that runs jobs', connects('runs/socket')],
    ['control', 'the key of the certificate', 'cat "$1/run/tls/key.pem"'],
    ['control', 'the files of running jobs', 'ls "$1/work/runs"'],
  ];

  it.each(attempts)('with the role %s cannot access %s', async (role, _what, command) => {
    expect(await succeedsAs(role, command)).toBe(false);
  });

  it.each(ROLES)('cannot read the environment of another process of the service: %s', async (role) => {
    for (const other of ROLES.filter((one) => one !== role))
      expect(await succeedsAs(role, `cat /proc/${statusOf(other)['Pid']}/environ`)).toBe(false);
  });

  it.each([
    ['api', connects('postgres/.s.PGSQL.5432')],
    ['api', connects('redis/redis.sock')],
    ['api', 'cat "$1/run/tls/key.pem" && ls "$1/files"'],
    ['courier', `${connects('postgres/.s.PGSQL.5432')} && ls "$1/files"`],
    ['control', connects('runs/socket')],
    ['api', connects('engine/socket')],
    ['runs', `${connects('files/socket')} && ${connects('heartbeat/socket')}`],
    ['engine', 'ls "$1/work/engine"'],
  ] as const)('with the role %s can access the files and sockets that it needs: %s', async (role, command) => {
    expect(await succeedsAs(role, command)).toBe(true);
  });
});
