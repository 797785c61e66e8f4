import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeLocalRuns } from '#controller/local-runs.ts';
import { systemClock } from '#crds/shared/clock.ts';
import { makeLog } from '#crds/shared/log.ts';
import { describeRuns } from '#test/contract/runs.ts';

describeRuns('child processes of this machine', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mediajobs-runs-'));
  const runs = await makeLocalRuns(
    { clock: systemClock, log: makeLog('test', 'silent') },
    {
      script: fileURLToPath(import.meta.resolve('#test/support/scripted-worker.ts')),
      directory: join(folder, 'runs'),
      path: process.env['PATH'] ?? '',
      stdout: 'ignore',
      atOnce: 2,
    },
  );
  return {
    runs,
    places: 2,
    async close() {
      await runs.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
});
