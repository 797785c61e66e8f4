/**
 * Program that owns an engine process: creates files and sockets that the process must not reach, runs
 * `attempts-of-a-child.py` in the isolation of this machine, and prints an `AttemptReport` as JSON.
 *   node test/boundaries/confined-owner.ts auto|bare|LEVEL [ATTEMPT...]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type ListenOptions } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { IsolationMissing, NO_ISOLATION, probeIsolation, type Isolation } from '#worker-image/tools/isolation.ts';
import { LEVELS } from '#worker-image/tools/isolation-levels.ts';
import { withInherited } from '#worker-image/tools/run-command.ts';

export interface AttemptReport {
  readonly level: string;
  /** `done` or the reason of the failure, by attempt. */
  readonly outcomes: Readonly<Record<string, string>>;
  /** Names in the service's folder after the attempts. */
  readonly left: readonly string[];
  readonly secret: { readonly mode: string; readonly size: number };
}

const SECRET = 'of the service';
/** Exit code when this machine lacks the isolation. */
const UNAVAILABLE = 3;
const PROGRAM = join(import.meta.dirname, 'attempts-of-a-child.py');

const isolation = await isolationNamed(process.argv[2] ?? 'auto').catch((error: unknown) => {
  if (!(error instanceof IsolationMissing)) throw error;
  process.exit(UNAVAILABLE);
});
// Not below /tmp, where the sandbox may mount a private tmpfs.
const folder = await mkdtemp('/var/tmp/confined-');
const home = join(folder, 'home');
const secret = join(folder, 'secret');
const tenant = join(folder, 'tenant');
await Promise.all([home, tenant].map((path) => mkdir(path, { mode: 0o700 })));
await Promise.all(
  [secret, `${secret}.remove`, `${secret}.rename`, join(tenant, 'file')].map((path) =>
    writeFile(path, SECRET, { mode: 0o600 }),
  ),
);
await copyFile(PROGRAM, join(home, 'attempts.py'));
const abstract = `confined-${process.pid}`;
const servers = await Promise.all(
  [{ host: '127.0.0.1', port: 0 }, { path: join(folder, 'socket') }, { path: `\0${abstract}` }].map(listening),
);
const paths = {
  secret,
  tenant,
  socket: join(folder, 'socket'),
  abstract,
  port: (servers.map((server) => server.address())[0] as AddressInfo).port,
  owner: process.pid,
  /** Names of the attempts to run; empty for all. Without isolation some would change this machine. */
  only: process.argv.slice(3),
  code: join(import.meta.dirname, '../../worker-image/sandbox/child.ts'),
};
const outcomes = JSON.parse(await attempts(isolation)) as AttemptReport['outcomes'];
const { mode, size } = await stat(secret);
const left = (await readdir(folder)).toSorted();
const confined: AttemptReport = {
  level: isolation.level,
  outcomes,
  left,
  secret: { mode: (mode & 0o7777).toString(8), size },
};
await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
await rm(folder, { recursive: true });
process.stdout.write(JSON.stringify(confined));

async function isolationNamed(name: string): Promise<Isolation> {
  if (name === 'bare') return NO_ISOLATION;
  return probeIsolation(
    name === 'auto' ? {} : { levels: LEVELS.map((level) => level.name).filter((one) => one === name) },
  );
}

async function listening(options: ListenOptions) {
  const server = createServer((socket) => socket.destroy());
  server.listen(options);
  await once(server, 'listening');
  return server;
}

/** Runs the program as `SandboxedEngine` starts an engine process and returns its output. */
async function attempts({ child, openFilter }: Isolation): Promise<string> {
  const filter = openFilter();
  const line = [...child(home), '/usr/bin/python3', '-I', '-S', 'attempts.py', JSON.stringify(paths)];
  const started = spawn('setpriv', ['--pdeathsig', 'KILL', ...line], {
    cwd: home,
    env: { PATH: '/usr/bin:/bin', HOME: home, TMPDIR: home },
    stdio: withInherited(['ignore', 'pipe', 'inherit'], filter),
    detached: true,
  });
  if (filter !== null) closeSync(filter);
  return text(started.stdout as NodeJS.ReadableStream);
}
