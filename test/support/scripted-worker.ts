/**
 * Replaces `worker-image/run-job.ts`, `run-standby.ts` and `serve-attempts.ts`, and does what the file name of its RunSpec
 * says. Like the worker it ends when its standard input does, except `hang-ignoring-stop`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import {
  BETWEEN_FILES,
  joinRunSpec,
  RUN_CHANNEL,
  STANDBY_TOKEN_FILE,
  STANDBY_URL,
  TERMINATION_NAME,
  RUN_SPEC,
  RUN_SPEC_FILE,
  TERMINATION_FILE,
} from '#crds/contract/run-files.ts';
import type { RunOutcome, RunSpec } from '#crds/contract/run-spec.ts';
import { readJsonLines, writeJsonLine } from '#crds/process/message-lines.ts';
import { awaitRun } from '#worker-image/transfer/await-run.ts';
import { reportOutcome } from '#worker-image/transfer/report-outcome.ts';
import { buildReport } from '#test/support/build-media-job.ts';

interface ScriptedRun {
  readonly spec: RunSpec;
  readonly terminationFile: string;
}

/** In a pod the run is in the environment; on one machine the owner sends one after the other. */
let current: ScriptedRun = { spec: {} as RunSpec, terminationFile: '' };
const standbyUrl = process.env[STANDBY_URL];
const isPod = process.env[RUN_SPEC_FILE] !== undefined || standbyUrl !== undefined;
const channel = isPod ? null : new Socket({ fd: RUN_CHANNEL });

/** Returns phases where the controller asks for them. */
function phases(): Pick<RunOutcome, 'phases'> {
  return current.spec.isTraced === true ? { phases: [{ phase: 'process', startMs: 0, endMs: 500 }] } : {};
}

const BEHAVIOURS: Readonly<Record<string, () => void>> = {
  succeed: () => end({ outcome: 'succeeded', report: buildReport() }),
  refuse: () => end({ outcome: 'failed', error: { code: 'encrypted_pdf', message: 'The PDF needs a password.' } }),
  /** Runs long enough to be observed as running. */
  'succeed-heard': () =>
    void beat().then(() => setTimeout(() => end({ outcome: 'succeeded', report: buildReport(), ...phases() }), 500)),
  /** Reports its outcome and runs on, so that only the report can end the job. */
  'succeed-reported': () => {
    end({ outcome: 'succeeded', report: buildReport() });
    void reportOutcome(current.spec, current.terminationFile);
    process.stdin.removeAllListeners('end').on('end', () => process.exit(1));
    setInterval(() => undefined, 60_000);
  },
  'report-environment': () => {
    const report = buildReport();
    const { spec, terminationFile } = current;
    const seen = { cwd: process.cwd(), pid: String(process.pid), attempt: String(spec.attempt), terminationFile };
    end({ outcome: 'succeeded', report: { ...report, tools: { ...process.env, ...seen } } });
  },
  crash: () => {
    process.stderr.write('Something broke.\n');
    process.exit(3);
  },
  'out-of-memory': () => process.abort(),
  babble: () => putOutcome((path) => writeFileSync(path, '{"outcome":"succeeded"')),
  'babble-much': () =>
    putOutcome((path) =>
      writeFileSync(
        path,
        JSON.stringify({ outcome: 'failed', error: { code: 'internal', message: 'x' }, more: 'x'.repeat(5000) }),
      ),
    ),
  'link-outcome': () => putOutcome((path) => symlinkSync(otherOutcome(), path)),
  'name-outcome-twice': () => putOutcome((path) => linkSync(otherOutcome(), path)),
  'pipe-outcome': () => putOutcome((path) => execFileSync('mkfifo', [path])),
  'folder-as-outcome': () => putOutcome((path) => mkdirSync(path)),
  hang: () => {
    let tool: number | null = null;
    const end = (): void => {
      if (tool !== null) process.kill(tool, 'SIGKILL');
      process.exit(1);
    };
    process.removeAllListeners('SIGTERM').on('SIGTERM', end);
    process.stdin.removeAllListeners('end').on('end', end).resume();
    tool = startTool();
  },
  /** Ignores SIGTERM before it starts its tool, because tests wait for the tool before they kill. */
  'hang-ignoring-stop': () => {
    process.removeAllListeners('SIGTERM').on('SIGTERM', () => undefined);
    process.stdin.removeAllListeners('end');
    startTool();
    setInterval(() => undefined, 60_000);
  },
};

if (standbyUrl !== undefined) await waitForRun(standbyUrl);
else if (channel === null) behave({ spec: specOfPod(), terminationFile: process.env[TERMINATION_FILE] ?? '' });
else {
  process.on('SIGTERM', () => process.exit(1));
  process.stdin.on('end', () => process.exit(1)).resume();
  readJsonLines(channel, {
    maxBytes: 1024 ** 2,
    onMessage: (message) => {
      const { directory, spec } = message as { directory: string; spec: RunSpec };
      behave({ spec, terminationFile: join(directory, TERMINATION_NAME) });
    },
  });
}

async function waitForRun(url: string): Promise<void> {
  const spec = await awaitRun({ url, tokenFile: process.env[STANDBY_TOKEN_FILE] ?? '', retryMs: 100 });
  if (spec === null) process.exit(0);
  behave({ spec: spec as RunSpec, terminationFile: process.env[TERMINATION_FILE] ?? '' });
}

function specOfPod(): RunSpec {
  const files = (process.env[RUN_SPEC_FILE] ?? '').split(BETWEEN_FILES);
  const parts = [process.env[RUN_SPEC] ?? '{}', ...files.map((file) => readFileSync(file, 'utf8'))];
  return joinRunSpec(parts.map((part) => JSON.parse(part) as object)) as RunSpec;
}

function behave(run: ScriptedRun): void {
  current = run;
  const behaviour = BEHAVIOURS[run.spec.filename ?? ''];
  if (behaviour === undefined) throw new Error(`There is no behaviour ${run.spec.filename}.`);
  behaviour();
}

function end(outcome: RunOutcome): void {
  putOutcome((path) => writeFileSync(path, JSON.stringify(outcome)));
}

/** Makes something at the path of the termination file, and says that the run has ended. */
function putOutcome(make: (path: string) => unknown): void {
  make(current.terminationFile);
  if (channel !== null) writeJsonLine(channel, { ended: true });
}

/** Writes an outcome to a file of another name and returns its path. */
function otherOutcome(): string {
  const path = join(process.env['TMPDIR'] ?? '', 'other.json');
  writeFileSync(path, JSON.stringify({ outcome: 'succeeded', report: buildReport() }));
  return path;
}

/** Reports once, to whichever controller answers by then. */
async function beat(): Promise<void> {
  const { spec } = current;
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
