/** A real S3 server on a free port, which keeps its objects in a temporary folder. */
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePorts } from '#api/embedded/free-ports.ts';

export interface ObjectStore {
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Creates an empty bucket. Returns the folder with its objects as files, each named by its key. */
  makeBucket(name: string): Promise<string>;
  /** Creates an access key with all rights. Returns it with a function that revokes it. */
  makeKey(): Promise<StoreKey>;
  close(): Promise<void>;
}

export interface StoreKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  revoke(): Promise<void>;
}

/** Takes `versitygw` from PATH; `hack/cluster/build-binaries versitygw` makes it. */
export async function startObjectStore(): Promise<ObjectStore> {
  const folder = await mkdtemp(join(tmpdir(), 'object-store-'));
  const [objects, properties, keys] = ['objects', 'properties', 'keys'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const made of [objects, properties, keys]) await mkdir(made);
  const [port = 0] = await freePorts(1);
  const address = `127.0.0.1:${port}`;
  const credentials = { accessKeyId: 'test-access-key', secretAccessKey: 'test-secret-key' };
  const server = spawn(
    'versitygw',
    ['--port', address, '--iam-dir', keys, '--iam-cache-disable', 'posix', '--sidecar', properties, objects],
    {
      env: {
        ...process.env,
        ROOT_ACCESS_KEY_ID: credentials.accessKeyId,
        ROOT_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = once(server, 'exit');
  // It writes what it listens on when it listens.
  await Promise.race([
    once(createInterface({ input: server.stdout }), 'line'),
    ended.then(() => Promise.reject(new Error('the S3 server ended at once'))),
  ]);
  server.stdout.resume();
  const endpoint = `http://${address}`;
  const admin = (...command: string[]) =>
    promisify(execFile)('versitygw', ['admin', ...command], {
      env: {
        ...process.env,
        ADMIN_ENDPOINT_URL: endpoint,
        ADMIN_ACCESS_KEY_ID: credentials.accessKeyId,
        ADMIN_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
    });
  return {
    endpoint,
    makeKey: async () => {
      const key = { accessKeyId: `key-${randomUUID()}`, secretAccessKey: randomUUID() };
      await admin('create-user', '-a', key.accessKeyId, '-s', key.secretAccessKey, '-r', 'admin');
      return { ...key, revoke: async () => void (await admin('delete-user', '-a', key.accessKeyId)) };
    },
    credentials,
    // A folder is a bucket there.
    makeBucket: async (name) => {
      await mkdir(join(objects, name));
      return join(objects, name);
    },
    close: async () => {
      server.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
