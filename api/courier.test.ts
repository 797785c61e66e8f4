import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { queueJobEvent } from '#api/webhooks/queue-job-event.ts';
import { newId } from '#crds/contract/ids.ts';
import { isReadyMessage } from '#crds/process/ready.ts';
import { testDatabase } from '#test/support/database.ts';
import { authorityFile, startReceiver } from '#test/support/receiver.ts';

const database = await testDatabase();
const key = Buffer.alloc(32, 7);

it('the courier reports that it is ready, delivers a queued event, logs no secret and stops on SIGTERM', async () => {
  const filesDir = await mkdtemp(path.join(tmpdir(), 'mediajobs-courier-'));
  onTestFinished(() => rm(filesDir, { recursive: true, force: true }));
  const courier = fork(fileURLToPath(new URL('courier.ts', import.meta.url)), {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: database.url,
      MEDIAJOBS_PRIVATE_TARGETS: '127.0.0.0/8',
      MEDIAJOBS_EXTRA_CA_FILE: authorityFile(),
      MEDIAJOBS_ENCRYPTION_KEYS: `a:${key.toString('base64')}`,
      MEDIAJOBS_LINK_KEYS: `a:${key.toString('base64')}`,
      MEDIAJOBS_FILES_DIR: filesDir,
      MEDIAJOBS_FILES_URL: 'http+unix://%2Fnobody%2Flistens',
      MEDIAJOBS_OPS_PORT: '0',
    },
  });
  onTestFinished(() => void courier.kill('SIGKILL'));
  const log = text(courier.stdout as NodeJS.ReadableStream);
  const [message] = await once(courier, 'message');
  expect(isReadyMessage(message)).toBe(true);

  const arrived = Promise.withResolvers<void>();
  const receiver = await startReceiver({
    respond: (response) => {
      response.writeHead(204).end();
      arrived.resolve();
    },
  });
  const accountId = newId('account');
  await database.query('insert into accounts (id, name, created_at) values ($1, $1, $2)', [accountId, new Date()]);
  const secretBox = makeSecretBox([{ id: 'a', key }]);
  const webhookUrl = `${receiver.url}/hook?token=canary`;
  const event = {
    accountId,
    jobId: newId('job'),
    livemode: true,
    type: 'job.succeeded',
    createdAt: new Date(),
    job: {},
    webhookUrl,
  } as const;
  await database.transaction((tx) => queueJobEvent({ secretBox, newId }, tx, event));
  await arrived.promise;
  expect(receiver.received).toHaveLength(1);

  courier.kill('SIGTERM');
  const [code] = await once(courier, 'exit');
  expect(code).toBe(0);
  expect(await log).toContain('webhook sent');
  expect(await log).not.toMatch(/canary|whsec_/);
});
