/** Docker and Compose as processes, and a client of the service in a container. `hack/test-container` sets the environment. */
import { execFile } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { makeApiClient, type ApiClient } from '#test/support/api-client.ts';

const run = promisify(execFile);
const CHECKOUT = path.join(import.meta.dirname, '../..');
const PROJECT = 'mediajobs-test';
export const IMAGE = process.env['CONTAINER_IMAGE'] ?? 'mediajobs';
/** Program and first arguments of Compose. */
const [COMPOSE = 'docker', ...COMPOSE_ARGS] = (process.env['CONTAINER_COMPOSE'] ?? 'docker compose').split(' ');
/** Compose file with the images of PostgreSQL and Valkey; empty: those of compose.yaml. */
const STORES = process.env['CONTAINER_STORES'] ?? '';

/** Returns the standard output. @throws with the standard error. */
export async function docker(...args: readonly string[]): Promise<string> {
  return (await run('docker', args)).stdout.trim();
}

/** Returns the sentences that the service in the container has written to standard error. */
export async function problemsOf(container: string): Promise<string[]> {
  const { stderr } = await run('docker', ['logs', container]);
  return stderr.split('\n').filter((line) => line.startsWith('mediajobs: '));
}

/** Runs Compose with the project's compose.yaml, on that port in place of 8443. */
export async function compose(port: number, ...args: readonly string[]): Promise<string> {
  const files = ['compose.yaml', STORES, 'test/container/published-port.yaml'].filter(Boolean);
  const options = files.flatMap((file) => ['--file', file]);
  const env = {
    ...process.env,
    MEDIAJOBS_IMAGE: IMAGE,
    MEDIAJOBS_PORT: String(port),
    POSTGRES_PASSWORD: 'a-password-of-the-tests',
  };
  const command = [...COMPOSE_ARGS, '--project-name', PROJECT, '--project-directory', '.', ...options, ...args];
  return (await run(COMPOSE, command, { cwd: CHECKOUT, env })).stdout.trim();
}

/** Returns a client with a new key of the service in the container, once it serves. */
export async function connect(container: string, port: number): Promise<ApiClient> {
  const key = await docker('exec', container, 'new-key', 'test');
  const ca = await docker('exec', container, 'cat', '/data/tls/ca.pem');
  return makeApiClient({ baseUrl: baseUrlOf(port), ca }, key);
}

export function baseUrlOf(port: number): string {
  return `https://localhost:${port}`;
}

/** Returns a port of this machine that nothing uses now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
