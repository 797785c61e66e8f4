/**
 * Hostile code in an engine process, in each isolation that this machine supports: every attempt of
 * `attempts-of-a-child.py` must fail.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AttemptReport } from '#test/boundaries/confined-owner.ts';

const OWNER = join(import.meta.dirname, 'confined-owner.ts');
const ATTEMPTS = attemptNames();
const TIMEOUT_MS = 180_000;
/** Exit code of the owner when this machine lacks the isolation. */
const UNAVAILABLE = 3;
const AS_NOBODY = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', '--'];
/** Command prefix that forbids new namespaces, as the default seccomp profile of containers does. */
const WITHOUT_NAMESPACES = [
  'bwrap',
  '--dev-bind',
  '/',
  '/',
  '--unshare-user',
  '--disable-userns',
  '--uid',
  '65534',
  '--',
];

/** Command prefix of the owner, the requested isolation, and the expected one. */
const SITUATIONS = [
  ['bubblewrap', { prefix: [], setting: 'bubblewrap', level: 'bubblewrap' }],
  ['namespaces, Landlock and seccomp', { prefix: [], setting: 'namespaces', level: 'namespaces' }],
  [
    'namespaces with the machine’s /proc',
    { prefix: [], setting: 'namespaces-shared-proc', level: 'namespaces-shared-proc' },
  ],
  ['Landlock and seccomp alone', { prefix: [], setting: 'landlock', level: 'landlock' }],
  [
    'bubblewrap, started by a user without privileges',
    { prefix: AS_NOBODY, setting: 'bubblewrap', level: 'bubblewrap' },
  ],
  [
    'namespaces, started by a user without privileges',
    { prefix: AS_NOBODY, setting: 'namespaces', level: 'namespaces' },
  ],
  ['Landlock, started by a user without privileges', { prefix: AS_NOBODY, setting: 'landlock', level: 'landlock' }],
  ['a container that allows no namespaces', { prefix: WITHOUT_NAMESPACES, setting: 'auto', level: 'landlock' }],
] as const;

/** Attempts that succeed without isolation and change nothing but the owner's folder. */
const POSSIBLE_OTHERWISE = [
  'read the secrets of the service',
  "read another tenant's file",
  'read a secret by a symbolic link',
  'overwrite a secret',
  'open a secret to everybody',
  'connect to a TCP port of the machine',
  'send a UDP datagram',
  'connect to the socket file of a database',
  'connect to an abstract socket',
  'read the environment of its owner',
  'signal its owner',
];

describe.each(SITUATIONS)('in %s', (_who, { prefix, setting, level }) => {
  let confined: AttemptReport | null = null;
  beforeAll(() => {
    confined = runOwner(prefix, [setting]);
  }, TIMEOUT_MS);

  it('the owner detects this isolation', ({ skip }) => {
    if (confined === null) skip();
    expect(confined?.level).toBe(level);
  });

  it.each(ATTEMPTS)('hostile code in an engine process cannot %s', (attempt) => {
    if (confined === null) return;
    expect(confined.outcomes[attempt]).toMatch(/^refused: /);
  });

  it('hostile code leaves the folder of the service unchanged', ({ skip }) => {
    if (confined === null) skip();
    expect(confined).toMatchObject({
      left: ['home', 'secret', 'secret.remove', 'secret.rename', 'socket', 'tenant'],
      secret: { mode: '600', size: 14 },
    });
  });
});

describe('without isolation hostile code', () => {
  it('of the same user succeeds with the same attempts', () => {
    const free = runOwner([], ['bare', ...POSSIBLE_OTHERWISE]);
    expect(free?.outcomes).toEqual(Object.fromEntries(POSSIBLE_OTHERWISE.map((attempt) => [attempt, 'done'])));
  });
});

/** Runs the owner and returns its report; null when this machine lacks the isolation. */
function runOwner(prefix: readonly string[], args: readonly string[]): AttemptReport | null {
  if (prefix === AS_NOBODY && process.getuid?.() !== 0) return null;
  const [file = '', ...line] = [...prefix, process.execPath, OWNER, ...args];
  const { status, stdout, stderr } = spawnSync(file, line, { encoding: 'utf8', env: { PATH: process.env['PATH'] } });
  if (status === UNAVAILABLE) return null;
  if (status !== 0) throw new Error(`the owner ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as AttemptReport;
}

function attemptNames(): string[] {
  const program = join(import.meta.dirname, 'attempts-of-a-child.py');
  return JSON.parse(spawnSync('/usr/bin/python3', ['-I', '-S', program], { encoding: 'utf8' }).stdout) as string[];
}
