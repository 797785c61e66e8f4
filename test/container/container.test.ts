/** The image of one machine with the rights that operators grant, killed with a job in flight. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { baseUrlOf, connect, docker, freePort, IMAGE, problemsOf } from '#test/container/docker.ts';
import type { ApiClient } from '#test/support/api-client.ts';
import { finished, upload } from '#test/support/run-through.ts';

const NETWORK = 'mediajobs-test-image';
const PHOTO = readFileSync('api/data/samples/photo.jpg');
const DOCUMENT = readFileSync('api/data/samples/letter.docx');

beforeAll(() => docker('network', 'create', NETWORK));
afterAll(() => docker('network', 'rm', NETWORK));

const RIGHTS: readonly (readonly [string, readonly string[]])[] = [
  ['the default rights', []],
  ['a read-only root', ['--read-only', '--tmpfs', '/tmp']],
  [
    'the seccomp profile of the image',
    ['--security-opt', 'seccomp=api/embedded/container/seccomp.json', '--security-opt', 'systempaths=unconfined'],
  ],
];

describe.each(RIGHTS)('the image of one machine with %s', (_name, rights) => {
  const name = 'mediajobs-test-image';
  let api: ApiClient;
  let smaller: Buffer;

  beforeAll(async () => {
    const port = await freePort();
    await docker('volume', 'create', name);
    const published = ['--publish', `127.0.0.1:${port}:8443`, '--env', `MEDIAJOBS_BASE_URL=${baseUrlOf(port)}`];
    const placement = ['--network', NETWORK, '--volume', `${name}:/data`, ...published];
    await docker('run', '--detach', '--name', name, ...placement, ...rights, IMAGE);
    smaller = secondCommandOfReadme(name);
    await untilServing(name);
    api = await connect(name, port);
  });
  afterAll(async () => {
    await docker('rm', '--force', name);
    await docker('volume', 'rm', name);
    await api.close();
  });

  it('has compressed a photo by the second command of the README, right after the first', () => {
    expect(smaller.subarray(0, 2).toString('hex')).toBe('ffd8');
    expect(smaller.length).toBeLessThan(PHOTO.length);
  });

  it('has revoked the key of that command', async () => {
    const { data } = JSON.parse(await docker('exec', name, 'mediactl', '--json', 'key', 'list'));
    const keys = data.filter((key: { name: string }) => key.name === 'first files');
    expect(keys).toMatchObject([{ mode: 'live', revoked_at: expect.any(String) }]);
  });

  it('makes further keys of the same account', async () => {
    await docker('exec', name, 'new-key', 'test');
    const { data } = JSON.parse(await docker('exec', name, 'mediactl', '--json', 'account', 'list'));
    expect(data.filter((account: { name: string }) => account.name === 'test')).toHaveLength(1);
  });

  it('compresses a photo in one request', async () => {
    const headers = { 'content-type': 'application/octet-stream' };
    const reply = await api('POST', '/v1/compress?filename=photo.jpg', { body: PHOTO, headers });
    expect(reply.status).toBe(200);
    expect(reply.bytes.length).toBeLessThan(PHOTO.length);
  });

  it('has reported no problem of a process', async () => {
    expect(await problemsOf(name)).toEqual([]);
  });

  it('finishes after a SIGKILL the job that was in flight', async () => {
    const input = { upload: await upload(api, DOCUMENT, 'letter.docx') };
    const json = { operation: 'convert', options: { convert: { to: 'pdf' } }, input };
    const { id } = (await api('POST', '/v1/jobs', { json })).json();
    await docker('kill', '--signal', 'KILL', name);
    await docker('start', name);
    await untilServing(name);
    expect(await finished(api, String(id), 120)).toMatchObject({ status: 'succeeded' });
  });
});

/** Returns what the README's command writes, for a container of that name, which has only just been started. */
function secondCommandOfReadme(name: string): Buffer {
  const command = /^docker exec -i mediajobs (.+) >smaller\.jpg$/m.exec(readFileSync('README.md', 'utf8'))?.[1] ?? '';
  const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-readme-'));
  const result = path.join(folder, 'smaller.jpg');
  try {
    execFileSync('sh', ['-euc', `docker exec -i ${name} ${command} >${result}`]);
    return readFileSync(result);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Waits until the service in the container has written its ready file. */
async function untilServing(name: string): Promise<void> {
  const isReady = (): Promise<boolean> =>
    docker('exec', name, 'test', '-e', '/data/run/ready.json').then(
      () => true,
      () => false,
    );
  await vi.waitUntil(isReady, { timeout: 120_000, interval: 100 });
}
