/**
 * Stands where `worker-image/run-job.ts` stands and does what the file name of its RunSpec says. Like
 * the worker it ends when its standard input does, unless the name tells it to be deaf.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RUN_SPEC_FILE, TERMINATION_FILE, type RunOutcome, type RunSpec } from '#crds/run-spec.ts';
import { buildReport } from '#test/support/build-media-job.ts';

const spec = JSON.parse(readFileSync(process.env[RUN_SPEC_FILE] ?? '', 'utf8')) as RunSpec;
const work = spec.filename ?? '';

const BEHAVIOURS: Readonly<Record<string, () => void>> = {
  succeed: () => leave({ outcome: 'succeeded', report: buildReport() }),
  refuse: () => leave({ outcome: 'failed', error: { code: 'encrypted_pdf', message: 'The PDF needs a password.' } }),
  'report-environment': () => {
    const report = buildReport();
    leave({
      outcome: 'succeeded',
      report: { ...report, tools: { ...process.env, cwd: process.cwd(), attempt: String(spec.attempt) } },
    });
  },
  crash: () => {
    process.stderr.write('Something broke.\n');
    process.exitCode = 3;
  },
  'out-of-memory': () => process.abort(),
  babble: () => writeFileSync(process.env[TERMINATION_FILE] ?? '', '{"outcome":"succeeded"'),
  'babble-much': () =>
    writeFileSync(
      process.env[TERMINATION_FILE] ?? '',
      JSON.stringify({ outcome: 'failed', error: { code: 'internal', message: 'x' }, more: 'x'.repeat(5000) }),
    ),
  hang: () => {
    const tool = startTool();
    const end = (): void => {
      process.kill(tool, 'SIGKILL');
      process.exit(1);
    };
    process.on('SIGTERM', end);
    process.stdin.on('end', end).resume();
  },
  'hang-deaf': () => {
    startTool();
    process.on('SIGTERM', () => undefined);
    setInterval(() => undefined, 60_000);
  },
};

const behave = BEHAVIOURS[work];
if (behave === undefined) throw new Error(`There is no behaviour ${work}.`);
behave();

function leave(outcome: RunOutcome): void {
  writeFileSync(process.env[TERMINATION_FILE] ?? '', JSON.stringify(outcome));
}

/** In a process group and a directory of its own, as the worker's tools are. */
function startTool(): number {
  const directory = join(process.env['TMPDIR'] ?? '', 'tool');
  mkdirSync(directory);
  const tool = spawn('sleep', ['3600'], {
    cwd: directory,
    env: { ...process.env, TMPDIR: directory },
    detached: true,
    stdio: 'ignore',
  });
  return tool.pid ?? 0;
}
