/** Another user of the machine, before and while the service runs. Needs root, to run commands as another user. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDataFolder } from '#api/embedded/data-folder.ts';
import { folderHash } from '#api/embedded/folder-hash.ts';
import { runService } from '#api/embedded/run-service.ts';
import { unprivilegedUser } from '#api/embedded/system-user.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

function freshFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-neighbor-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Program that occupies names, folders and ports until its input ends. Arguments: a JSON list of each. */
const SQUATTER = `
import json, os, socket, sys
names, folders, ports = map(json.loads, sys.argv[1:4])
held = []
for name in names:
    held.append(socket.socket(socket.AF_UNIX)); held[-1].bind("\\0" + name); held[-1].listen()
for folder in folders: os.mkdir(folder, 0o777)
for port in ports:
    held.append(socket.socket()); held[-1].bind(("127.0.0.1", port)); held[-1].listen()
print("held", flush=True)
sys.stdin.read()
`;

/** Starts a command as `nobody` and kills it at the end of the test. */
function asNobody(command: readonly string[], argv0?: string) {
  const identity = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups', '--'];
  const line = argv0 === undefined ? command : ['bash', '-c', 'exec -a "$0" "$@"', argv0, ...command];
  const child = spawn('setpriv', [...identity, ...line], { cwd: '/', stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return child;
}

describe.runIf(isRoot)('a neighbor who occupies every predictable name', () => {
  it('does not prevent the first start of the service, nor the next one', async () => {
    const data = freshFolder();
    const hash = folderHash(data);
    const servers = (['postgres', 'redis'] as const).map((name) => [name, unprivilegedUser([name, 'nobody'])] as const);
    const folders = servers.flatMap(([name, user]) =>
      [0, user?.uid ?? 0].map((uid) => `/tmp/mediajobs-${uid}-${hash}-${name}`),
    );
    onTestFinished(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));
    const squatter = asNobody([
      '/usr/bin/python3',
      '-c',
      SQUATTER,
      JSON.stringify([`mediajobs-${hash}`]),
      JSON.stringify([...folders, `/tmp/mediajobs-${hash}`]),
      JSON.stringify([8091, 9090, 9091]),
    ]);
    onTestFinished(() => rmSync(`/tmp/mediajobs-${hash}`, { recursive: true, force: true }));
    expect((await once(createInterface({ input: squatter.stdout }), 'line'))[0]).toBe('held');
    const problems: string[] = [];
    for (const start of ['first', 'second']) {
      asNobody(['sleep', '600'], `postgres: mediajobs-${hash} checkpointer`);
      const service = await runService({ data, onProblem: (line) => problems.push(`${start}: ${line}`) });
      await service.stop();
    }
    expect(problems).toEqual([]);
  }, 120_000);
});

describe.runIf(isRoot)('a data folder that a neighbor prepared', () => {
  const tried: readonly (readonly [what: string, make: (data: string) => void, refusal: string])[] = [
    [
      'that belongs to the neighbor',
      (data) => chownSync(data, NOBODY, NOBODY),
      'belongs to the user with the number 65534',
    ],
    [
      'whose file store belongs to the neighbor',
      (data) => {
        mkdirSync(path.join(data, 'files'));
        chownSync(path.join(data, 'files'), NOBODY, NOBODY);
      },
      'belongs to the user with the number 65534',
    ],
    [
      "whose work folder is a link to the neighbor's",
      (data) => {
        const theirs = freshFolder();
        chownSync(theirs, NOBODY, NOBODY);
        symlinkSync(theirs, path.join(data, 'work'));
      },
      'belongs to the user with the number 65534',
    ],
    [
      'with secrets that are a link',
      (data) => {
        const elsewhere = path.join(freshFolder(), 'secrets.json');
        writeFileSync(elsewhere, '{}', { mode: 0o600 });
        symlinkSync(elsewhere, path.join(data, 'secrets.json'));
      },
      'is not a regular file',
    ],
    [
      'with secrets that the neighbor wrote',
      (data) => {
        writeFileSync(path.join(data, 'secrets.json'), '{}', { mode: 0o600 });
        chownSync(path.join(data, 'secrets.json'), NOBODY, NOBODY);
      },
      'belongs to the user with the number 65534',
    ],
    [
      'with secrets that everybody may read',
      (data) => writeFileSync(path.join(data, 'secrets.json'), '{}', { mode: 0o644 }),
      'Other users may read',
    ],
    [
      'with the key of an authority that everybody may read',
      (data) => {
        mkdirSync(path.join(data, 'tls'));
        writeFileSync(path.join(data, 'tls', 'ca.key'), '', { mode: 0o644 });
      },
      'Other users may read',
    ],
  ];

  it.each(tried)('%s is refused', async (_what, make, refusal) => {
    const data = freshFolder();
    make(data);
    await expect(openDataFolder({ report: () => undefined }, data)).rejects.toThrow(refusal);
  });
});
