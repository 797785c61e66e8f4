/** Files that lead whoever opens them elsewhere, sent to the whole running service. */
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { existsSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { ended, upload, type Reply } from '#test/faults/account.ts';
import { must, type Scenario, type Stage } from '#test/faults/scenario.ts';
import type { Bait } from '#test/hostile/attacked-engine.ts';
import type { HostileFile } from '#test/hostile/hostile-file.ts';
import { DOCUMENTS_WITH_LINKS } from '#test/hostile/linked-documents.ts';
import { DISGUISED_PLAYLISTS } from '#test/hostile/playlists.ts';

const SECRET = 'canary-7c1e5f0a-of-the-machine';

export const HOSTILE_SCENARIOS: readonly Scenario[] = [
  {
    name: 'hostile-documents',
    breaks:
      'documents, sheets and playlists that refer to addresses and files of the machine, in jobs and direct requests',
    holds: 'nobody calls, nothing of the machine is in a result, and every file ends',
    run: async (stage) => {
      const { world, random } = stage;
      const trap = await openTrap(world.folder);
      try {
        const files = [
          random.pick(DOCUMENTS_WITH_LINKS),
          random.pick(DOCUMENTS_WITH_LINKS),
          random.pick(DISGUISED_PLAYLISTS),
        ];
        const results = await Promise.all(
          files.flatMap((file) => [asJob(stage, file, trap.bait), atOnce(stage, file, trap.bait)]),
        );
        must(
          trap.calls() === 0,
          `${trap.calls()} connections were made by ${files.map(({ name }) => name).join(', ')}`,
        );
        must(!existsSync(trap.bait.unwritten), 'a macro or a program ran');
        must(
          results.every(({ bytes }) => !bytes.includes(SECRET)),
          'a file of the machine is in a result',
        );
      } finally {
        await trap.close();
      }
    },
  },
];

async function asJob({ account }: Stage, file: HostileFile, bait: Bait): Promise<Reply> {
  const input = { upload: await upload(account, await file.bytes(bait), file.filename) };
  const { operation = 'compress', options = {} } = file;
  const made = await account.call('POST', '/v1/jobs', { json: { operation, options, input } });
  must(made.status === 202, `${file.name} was answered with ${made.status}`);
  const job = await ended(account, String(made.body.id), 180);
  must(job.error?.code !== 'internal', `${file.name} ended with internal`);
  return account.call('GET', `/v1/jobs/${job.id}/output`);
}

async function atOnce({ account }: Stage, file: HostileFile, bait: Bait): Promise<Reply> {
  const operation = (file.operation ?? 'compress').replace('_', '-');
  const to = operation === 'convert' ? '&to=pdf' : '';
  const body = await file.bytes(bait);
  const reply = await account.call('POST', `/v1/${operation}?filename=${file.filename}${to}`, { body });
  must([200, 400, 415, 422].includes(reply.status), `${file.name} was answered with ${reply.status}`);
  return reply;
}

/** A loopback server that counts who connects, and a file that nobody may read. */
async function openTrap(folder: string): Promise<{ bait: Bait; calls: () => number; close: () => Promise<void> }> {
  let calls = 0;
  const server = createServer((socket) => {
    calls += 1;
    socket.destroy();
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const secret = path.join(folder, 'secret.txt');
  writeFileSync(secret, SECRET);
  return {
    bait: {
      url: (name) => `http://127.0.0.1:${port}/${name}`,
      path: secret,
      fileUrl: pathToFileURL(secret).href,
      unwritten: path.join(folder, 'written-by-a-macro'),
    },
    calls: () => calls,
    close: () => new Promise((closed) => void server.close(() => closed())),
  };
}
