/**
 * Replaces `worker-image/run-job.ts` and does what the file name of its RunSpec says. Like
 * the worker it ends when its standard input does, except `hang-ignoring-stop`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BETWEEN_FILES, joinRunSpec } from '#crds/contract/run-files.ts';
import { RUN_SPEC, RUN_SPEC_FILE, TERMINATION_FILE, type RunOutcome, type RunSpec } from '#crds/contract/run-spec.ts';
import { buildReport } from '#test/support/build-media-job.ts';

const files = (process.env[RUN_SPEC_FILE] ?? '').split(BETWEEN_FILES);
const parts = [process.env[RUN_SPEC] ?? '{}', ...files.map((file) => readFileSync(file, 'utf8'))];
const spec = joinRunSpec(parts.map((part) => JSON.parse(part) as object)) as RunSpec;
const work = spec.filename ?? '';

const BEHAVIOURS: Readonly<Record<string, () => void>> = {
  succeed: () => end({ outcome: 'succeeded', report: buildReport() }),
  refuse: () => end({ outcome: 'failed', error: { code: 'encrypted_pdf', message: 'The PDF needs a password.' } }),
  /** Runs long enough to be observed as running. */
  'succeed-heard': () =>
    void beat().then(() => setTimeout(() => end({ outcome: 'succeeded', report: buildReport() }), 500)),
  'report-environment': () => {
    const report = buildReport();
    end({
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
  'link-outcome': () => symlinkSync(otherOutcome(), terminationFile()),
  'name-outcome-twice': () => linkSync(otherOutcome(), terminationFile()),
  'pipe-outcome': () => void execFileSync('mkfifo', [terminationFile()]),
  'folder-as-outcome': () => mkdirSync(terminationFile()),
  hang: () => {
    let tool: number | null = null;
    const end = (): void => {
      if (tool !== null) process.kill(tool, 'SIGKILL');
      process.exit(1);
    };
    process.on('SIGTERM', end);
    process.stdin.on('end', end).resume();
    tool = startTool();
  },
  /** Ignores SIGTERM before it starts its tool, because tests wait for the tool before they kill. */
  'hang-ignoring-stop': () => {
    process.on('SIGTERM', () => undefined);
    startTool();
    setInterval(() => undefined, 60_000);
  },
};

const behave = BEHAVIOURS[work];
if (behave === undefined) throw new Error(`There is no behaviour ${work}.`);
behave();

function end(outcome: RunOutcome): void {
  writeFileSync(terminationFile(), JSON.stringify(outcome));
}

function terminationFile(): string {
  return process.env[TERMINATION_FILE] ?? '';
}

/** Writes an outcome to a file of another name and returns its path. */
function otherOutcome(): string {
  const path = join(process.env['TMPDIR'] ?? '', 'other.json');
  writeFileSync(path, JSON.stringify({ outcome: 'succeeded', report: buildReport() }));
  return path;
}

/** Reports once, to whichever controller answers by then. */
async function beat(): Promise<void> {
  const { url, token } = spec.heartbeat;
  const body = JSON.stringify({ jobId: spec.jobId, attempt: spec.attempt, percent: 50 });
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(url, { method: 'POST', headers, body }).catch(() => null);
  if (response?.status === 204) return;
  await new Promise((resolve) => setTimeout(resolve, 100));
  await beat();
}

/** Starts a process in its own process group and directory, like the worker's tools. */
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
