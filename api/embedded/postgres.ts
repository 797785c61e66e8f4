/**
 * PostgreSQL from Debian's package, with its data in one folder and reachable on a unix socket alone.
 *
 *   no cluster ──initdb──▶ cluster ──start──▶ ready ──stop──▶ cluster
 *                                              │ this process dies: the kernel sends SIGINT (fast shutdown)
 */
import {
  chownSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { folderHash } from '#api/embedded/folder-hash.ts';
import { makeSocketFolder } from '#api/embedded/socket-folder.ts';
import { StartError } from '#api/embedded/start-error.ts';
import { endStalePostgres } from '#api/embedded/stale-postgres.ts';
import { readyOrEnded, startSystemProcess, type SystemProcess } from '#api/embedded/system-process.ts';
import { unprivilegedUser, type SystemUser } from '#api/embedded/system-user.ts';

export interface Server {
  readonly url: string;
  readonly pid: number;
  /** Resolves with how it ended, such as `exit code 1`. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

interface PostgresInput {
  /** Folder of the cluster's folder `postgres`, which is created when it is missing. */
  readonly dataFolder: string;
  /** false: a crash of the machine may lose data. For temporary clusters. */
  readonly durable: boolean;
  /** Group whose processes may connect; by default the server's user and the caller alone. */
  readonly mayConnect?: number | null;
  readonly onLine: (line: string) => void;
}

const BIN_PARENT = '/usr/lib/postgresql';
const OLDEST_VERSION = 15;
const USER = 'mediajobs';
/** Database that initdb creates in every cluster. */
const DATABASE = 'postgres';
const STOP_GRACE_MS = 20_000;
/** Paths of the cluster's folder and the socket folder inside the server process; see `open` of SystemCommand. */
const OWN_FOLDER = '/proc/self/fd/3';
const SOCKET_FOLDER = '/proc/self/fd/4';

/** Starts PostgreSQL and waits until it accepts connections. @throws StartError when the package is missing or the server does not start. */
export async function startPostgres({
  dataFolder,
  durable,
  mayConnect = null,
  onLine,
}: PostgresInput): Promise<Server> {
  const cluster = path.join(dataFolder, 'postgres');
  const bin = findBin(cluster);
  const user = unprivilegedUser(['postgres', 'nobody']);
  const clusterName = `mediajobs-${folderHash(dataFolder)}`;
  if (existsSync(cluster)) await endStalePostgres(cluster);
  else await makeCluster({ bin, user, cluster, durable });
  const sockets = makeSocketFolder(dataFolder, 'postgres', { owner: user, mayEnter: mayConnect });
  const server = await start({ bin, user, cluster, durable, clusterName, sockets: sockets.path, onLine });
  return {
    url: `postgresql:///${DATABASE}?host=${sockets.path}&user=${USER}`,
    pid: server.pid,
    ended: server.ended,
    stop: async () => {
      await server.stop('SIGINT', STOP_GRACE_MS);
      sockets.remove();
    },
  };
}

/** Returns the folder of the programs: of the version that made the cluster, or of the newest one for a new cluster. */
function findBin(cluster: string): string {
  const made = path.join(cluster, 'PG_VERSION');
  if (existsSync(made)) return binOf(readFileSync(made, 'utf8').trim(), cluster);
  const versions = existsSync(BIN_PARENT) ? readdirSync(BIN_PARENT).map(Number) : [];
  const usable = versions.filter(
    (version) => version >= OLDEST_VERSION && existsSync(`${BIN_PARENT}/${version}/bin/postgres`),
  );
  const newest = usable.toSorted((a, b) => b - a)[0];
  if (newest === undefined) {
    throw new StartError(
      `PostgreSQL ${OLDEST_VERSION} or newer is missing: install Debian's package postgresql-${OLDEST_VERSION}, run hack/setup, or give DATABASE_URL.`,
    );
  }
  return `${BIN_PARENT}/${newest}/bin`;
}

function binOf(version: string, cluster: string): string {
  const bin = `${BIN_PARENT}/${version}/bin`;
  if (existsSync(`${bin}/postgres`)) return bin;
  throw new StartError(
    `PostgreSQL ${version} is missing, which made ${cluster}: install Debian's package postgresql-${version}. To go on with another version, dump the database with that one (docs/operations.md, Backup and restore), and restore it into a new data folder.`,
  );
}

interface Cluster {
  readonly bin: string;
  readonly user: SystemUser | null;
  readonly cluster: string;
  readonly durable: boolean;
}

/** Creates the cluster under another name and renames it, so that an interrupted start leaves no partial cluster. */
async function makeCluster({ bin, user, cluster, durable }: Cluster): Promise<void> {
  const draft = `${cluster}.new`;
  await removeStaleDraft(draft, `${cluster}.stale`);
  mkdirSync(draft, { mode: 0o700 });
  if (user !== null) chownSync(draft, user.uid, user.gid);
  const args = ['-D', OWN_FOLDER, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-instructions'];
  const lines: string[] = [];
  const folder = openFolder(draft);
  try {
    const made = await startSystemProcess({
      file: `${bin}/initdb`,
      args: durable ? args : [...args, '--no-sync'],
      user,
      deathSignal: 'KILL',
      open: [folder],
      onLine: (line) => lines.push(line),
    });
    const end = await made.ended;
    if (end !== 'exit code 0')
      throw new StartError(
        `PostgreSQL could not create its data folder ${draft} (${end}): ${lines.slice(-3).join(' ')}`,
      );
  } finally {
    closeSync(folder);
  }
  renameSync(draft, cluster);
}

/** Removes what a killed initdb left. Renames it first: its child processes may write to it for some seconds. */
async function removeStaleDraft(draft: string, stale: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };
  await rm(stale, options);
  if (!existsSync(draft)) return;
  renameSync(draft, stale);
  await rm(stale, options);
}

interface ServerInput extends Cluster {
  readonly clusterName: string;
  readonly sockets: string;
  readonly onLine: (line: string) => void;
}

async function start(input: ServerInput): Promise<SystemProcess> {
  const { promise: ready, resolve: isReady } = Promise.withResolvers<void>();
  const lastLines: string[] = [];
  const open = [input.cluster, input.sockets].map(openFolder);
  try {
    const server = await startSystemProcess({
      file: `${input.bin}/postgres`,
      args: ['-D', OWN_FOLDER, ...serverSettings(input)],
      user: input.user,
      deathSignal: 'INT',
      open,
      onLine: (line) => {
        input.onLine(line);
        lastLines.splice(0, lastLines.length - 2);
        lastLines.push(line);
        if (line.includes('database system is ready to accept connections')) isReady();
      },
    });
    const end = await readyOrEnded(ready, server);
    if (end !== null)
      throw new StartError(`PostgreSQL did not start in ${input.cluster} (${end}): ${lastLines.join(' ')}`);
    return server;
  } finally {
    open.forEach((folder) => closeSync(folder));
  }
}

function serverSettings({ durable, clusterName }: ServerInput): string[] {
  const settings = {
    cluster_name: clusterName,
    listen_addresses: '',
    unix_socket_directories: SOCKET_FOLDER,
    // The mode of the socket's folder limits who may connect.
    unix_socket_permissions: '0777',
    max_connections: '80',
    shared_buffers: '32MB',
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_wal_size: '256MB',
    // One call for the file system in place of one for each of the cluster's 1,000 files, before the recovery after a crash.
    recovery_init_sync_method: 'syncfs',
    jit: 'off',
    lc_messages: 'C',
    fsync: durable ? 'on' : 'off',
    synchronous_commit: durable ? 'on' : 'off',
    full_page_writes: durable ? 'on' : 'off',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function openFolder(folder: string): number {
  return openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
}
