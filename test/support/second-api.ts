/** A second HTTP process beside the shared service's own: same records, same files, another engine. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { readConnection } from '#api/embedded/connection.ts';
import { freePorts } from '#api/embedded/free-ports.ts';
import { socketUrl } from '#crds/process/start-request.ts';
import type { SharedService } from '#test/support/use-service.ts';

const SCRIPT = fileURLToPath(new URL('../../api/main.ts', import.meta.url));

type Address = Pick<SharedService, 'baseUrl' | 'ca'>;

/** Starts a second API, which ends with the test file. The settings extend or replace those of the service. */
export async function startSecondApi(...start: Parameters<typeof openSecondApi>): Promise<Address> {
  const { stop, ...address } = await openSecondApi(...start);
  afterAll(stop);
  return address;
}

/** Starts a second API that the test ends itself. The settings extend or replace those of the service. */
export async function openSecondApi(
  { data, ca }: Pick<SharedService, 'data' | 'ca'>,
  settings: Readonly<Record<string, string>>,
): Promise<Address & { readonly stop: () => Promise<void> }> {
  const [https, http] = await freePorts(2);
  const sockets = await mkdtemp(path.join(tmpdir(), 'second-api-'));
  const connection = readConnection(data);
  if (connection === null) throw new Error(`no service runs on ${data}`);
  const secrets = JSON.parse(await readFile(path.join(data, 'secrets.json'), 'utf8')) as Record<string, string>;
  const baseUrl = `https://localhost:${https}`;
  const child = fork(SCRIPT, [], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      PATH: process.env['PATH'],
      ...secrets,
      DATABASE_URL: connection.DATABASE_URL,
      REDIS_URL: connection.REDIS_URL,
      MEDIAJOBS_BASE_URL: baseUrl,
      MEDIAJOBS_HTTPS_PORT: String(https),
      MEDIAJOBS_HTTP_PORT: String(http),
      MEDIAJOBS_OPS_SOCKET: path.join(sockets, 'ops'),
      MEDIAJOBS_TLS_CERT_FILE: path.join(data, 'tls', 'cert.pem'),
      MEDIAJOBS_TLS_KEY_FILE: path.join(data, 'tls', 'key.pem'),
      MEDIAJOBS_FILES_DIR: path.join(data, 'files'),
      MEDIAJOBS_FILES_URL: socketUrl(path.join(sockets, 'files')),
      ...settings,
    },
  });
  const ended = once(child, 'exit');
  const isReady = await Promise.race([once(child, 'message').then(() => true), ended.then(() => false)]);
  if (!isReady) throw new Error('the second HTTP process did not start');
  return {
    baseUrl,
    ca,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      await rm(sockets, { recursive: true });
    },
  };
}
