/** A controller's process for crash tests: starts one run of the scripted worker and never ends. Arguments: directory, behaviour. */
import { fileURLToPath } from 'node:url';
import { completeRequest, makeLocalRuns } from '#controller/local-runs.ts';
import { systemClock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';
import { buildRunRequest } from '#test/contract/runs.ts';

const [directory = '', behaviour = ''] = process.argv.slice(2);
const script = fileURLToPath(import.meta.resolve('#test/support/scripted-worker.ts'));
const options = { script, directory, path: process.env['PATH'] ?? '', stdout: 'ignore', concurrency: 1 } as const;
const runs = await makeLocalRuns({ clock: systemClock, log: makeLog('test', 'silent') }, options);
await runs.start(await completeRequest(buildRunRequest(behaviour)));
setInterval(() => undefined, 60_000);
