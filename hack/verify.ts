/**
 * Runs every check of the code that is not a test. Prints one line per check with its seconds, then the
 * output of each failed check. Exit code 1 when one failed.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';

interface VerifyScript {
  /** A script of package.json, so that it can be run alone. */
  readonly script: string;
  readonly checks: string;
}

/** All checks, the slowest first, because they determine the total time. */
const CHECKS: readonly VerifyScript[] = [
  { script: 'typecheck', checks: 'types' },
  { script: 'imports', checks: 'who imports whom' },
  { script: 'lint', checks: 'promises, sizes, style' },
  { script: 'unused', checks: 'unused files, exports, packages' },
  { script: 'sql', checks: 'which files contain SQL' },
  { script: 'licences', checks: 'licences of what the images contain' },
  { script: 'names', checks: 'names, docstrings, paths of one machine' },
  { script: 'generated', checks: 'generated files' },
  { script: 'format:check', checks: 'format' },
  { script: 'docs', checks: 'paths and sections that are cited' },
];

const started = performance.now();
const waiting = [...CHECKS];
const outcomes = await Promise.all(Array.from({ length: availableParallelism() }, () => runWaiting()));
const failed = outcomes.flat().filter(({ code }) => code !== 0);
for (const { script, said } of failed) process.stdout.write(`\n--- npm run ${script}\n${said.trimEnd()}\n`);
const verdict = failed.length === 0 ? 'all passed' : `failed: ${failed.map(({ script }) => script).join(', ')}`;
process.stdout.write(`\nverify: ${CHECKS.length} checks in ${seconds(started)}, ${verdict}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

interface Outcome {
  readonly script: string;
  /** null after a signal. */
  readonly code: number | null;
  readonly said: string;
}

/** Runs one check after the other until none is left. */
async function runWaiting(): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) outcomes.push(await run(check));
  return outcomes;
}

async function run({ script, checks }: VerifyScript): Promise<Outcome> {
  const start = performance.now();
  const child = spawn('npm', ['run', '--silent', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject));
  const [out, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  process.stdout.write(`${code === 0 ? 'ok    ' : 'FAILED'} ${seconds(start)}  ${script.padEnd(12)}  ${checks}\n`);
  return { script, code, said: out + errors };
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1).padStart(5)} s`;
}
