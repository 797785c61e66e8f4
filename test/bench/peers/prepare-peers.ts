/** Installs peers from the package registries, each into a folder of its own below the cache. */
import { execFile } from 'node:child_process';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { BESIDES, PEERS, type Peer, type PeerName } from './peers.ts';

export interface ReadyPeer {
  /** Where its packages are; the binary itself for one that was given. */
  readonly folder: string;
  readonly version: string;
}

/** Peers that can be measured on this machine. */
export type ReadyPeers = ReadonlyMap<PeerName, ReadyPeer>;

interface Deps {
  readonly cache: string;
  /** Where the paths of given binaries are looked up. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly say: (line: string) => void;
}

const run = promisify(execFile);
const SYSTEM_PYTHON = '/usr/bin/python3';

/** Prepares the peers that are available; one without its binary is omitted. @throws Error when an install fails. */
export async function preparePeers(deps: Deps, names: readonly PeerName[]): Promise<ReadyPeers> {
  await installDebian(deps, names);
  const ready = new Map<PeerName, ReadyPeer>();
  for (const name of names) {
    const peer = await prepare(deps, name);
    if (peer === null) deps.say(`${name} is left out: ${PEERS[name].packages[0]} names no binary`);
    else ready.set(name, peer);
  }
  return ready;
}

async function prepare(deps: Deps, name: PeerName): Promise<ReadyPeer | null> {
  const { source, packages }: Peer = PEERS[name];
  const [first = '', second] = packages;
  switch (source) {
    case 'own':
      return { folder: '', version: (await Promise.all(packages.map(ownVersion))).join(' + ') };
    case 'debian':
      return { folder: '', version: await debianVersion(first) };
    case 'binary': {
      const path = deps.env[first];
      if (path === undefined) return null;
      return {
        folder: path,
        version: second === undefined ? await saidVersion(path) : (deps.env[second] ?? 'unknown'),
      };
    }
    case 'pypi':
      return {
        folder: await installOnce(deps, first, (to) => installPython(to, packages)),
        version: after(first, '=='),
      };
    case 'npm':
      return { folder: await installOnce(deps, first, (to) => installNode(to, packages)), version: after(first, '@') };
  }
}

async function installDebian(deps: Deps, names: readonly PeerName[]): Promise<void> {
  const wanted = names.flatMap((name) => [
    ...(PEERS[name].source === 'debian' ? PEERS[name].packages : []),
    ...(BESIDES[name] ?? []),
  ]);
  const found = await Promise.all(wanted.map(debianVersion));
  const missing = wanted.filter((_, at) => found[at] === '');
  if (missing.length === 0) return;
  deps.say(`installing Debian packages: ${missing.join(' ')}`);
  const command = ['apt-get', '-q', '-y', '-o', 'DPkg::Lock::Timeout=300', 'install', '--no-install-recommends'];
  const [file = '', ...args] = process.getuid?.() === 0 ? command : ['sudo', ...command];
  await run(file, [...args, ...missing], { env: { ...deps.env, DEBIAN_FRONTEND: 'noninteractive' } });
}

/** Empty when it is not installed. */
async function debianVersion(name: string): Promise<string> {
  const queried = await run('dpkg-query', ['-W', '-f', '${db:Status-Abbrev}${Version}', name]).catch(() => ({
    stdout: '',
  }));
  return /^ii +(\S+)/.exec(queried.stdout)?.[1] ?? '';
}

/** The stamp is written last: a folder without it is a broken install. */
async function installOnce(deps: Deps, pinned: string, install: (to: string) => Promise<void>): Promise<string> {
  const folder = join(deps.cache, 'peers', pinned.replace(/==|@/, '-'));
  const stamp = join(folder, '.installed');
  const isThere = await access(stamp).then(
    () => true,
    () => false,
  );
  if (isThere) return folder;
  deps.say(`installing ${pinned}`);
  await mkdir(folder, { recursive: true });
  await install(folder);
  await writeFile(stamp, '');
  return folder;
}

async function installPython(folder: string, packages: readonly string[]): Promise<void> {
  await run(SYSTEM_PYTHON, ['-m', 'venv', '--system-site-packages', folder]);
  await run(join(folder, 'bin', 'pip'), [
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--no-input',
    ...packages,
  ]);
}

async function installNode(folder: string, packages: readonly string[]): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{"private": true}\n');
  await run('npm', ['install', '--no-fund', '--no-audit', '--loglevel=error', '--save-exact', ...packages], {
    cwd: folder,
  });
}

/** Of a dependency of the project. */
async function ownVersion(name: string): Promise<string> {
  let folder = dirname(createRequire(import.meta.url).resolve(name));
  for (;;) {
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}');
    const found = JSON.parse(text) as { name?: string; version?: string };
    if (found.name === name && found.version !== undefined) return `${name} ${found.version}`;
    if (folder === dirname(folder)) throw new Error(`${name} is not installed`);
    folder = dirname(folder);
  }
}

async function saidVersion(path: string): Promise<string> {
  const { stdout } = await run(path, ['version']);
  return stdout.trim().split('\n')[0] ?? '';
}

function after(pinned: string, mark: string): string {
  return pinned.slice(pinned.lastIndexOf(mark) + mark.length);
}
