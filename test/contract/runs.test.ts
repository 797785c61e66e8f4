import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectRuns } from '#controller/connect-runs.ts';
import { completeRequest, makeLocalRuns } from '#controller/local-runs.ts';
import type { WorkerProcessesOptions } from '#controller/worker-processes.ts';
import { serveLocalRuns } from '#controller/serve-local-runs.ts';
import { systemClock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';
import { describeRuns, type TestedRuns } from '#test/contract/runs.ts';

const deps = { clock: systemClock, log: makeLog('test', 'silent') };

async function freshOptions(): Promise<{ folder: string; options: WorkerProcessesOptions }> {
  const folder = await mkdtemp(join(tmpdir(), 'mediajobs-runs-'));
  const options = {
    script: fileURLToPath(import.meta.resolve('#test/support/scripted-worker.ts')),
    directory: join(folder, 'runs'),
    path: process.env['PATH'] ?? '',
    stdout: 'ignore',
    concurrency: 2,
  } as const;
  return { folder, options };
}

describeRuns('child processes of this machine', async (): Promise<TestedRuns> => {
  const { folder, options } = await freshOptions();
  const local = await makeLocalRuns(deps, options);
  return {
    runs: {
      reserve: (name, owner) => local.reserve(name, owner),
      start: async (request) => local.start(await completeRequest(request)),
      observe: (name) => local.observe(name),
      list: () => local.list(),
      stop: (name) => local.stop(name),
      release: (name) => local.release(name),
      watch: (onChange, signal) => local.watch(onChange, signal),
    },
    slots: 2,
    async close() {
      await local.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
});

describeRuns('child processes of another process', async (): Promise<TestedRuns> => {
  const { folder, options } = await freshOptions();
  const server = await serveLocalRuns(deps, options, join(folder, 'runs.sock'));
  const runs = await connectRuns(join(folder, 'runs.sock'));
  return {
    runs,
    slots: 2,
    async close() {
      await runs.close();
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
});
