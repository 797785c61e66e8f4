/**
 * Runs every check of the code that is not a test. One line per check with its seconds; what a failed one said
 * follows in full. Exit code 1 when one failed.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';

interface Check {
  /** A script of package.json, so that it can be run alone. */
  readonly script: string;
  readonly checks: string;
}

/** The slow ones first: they decide how long the whole takes. */
const CHECKS: readonly Check[] = [
  { script: 'typecheck', checks: 'types' },
  { script: 'imports', checks: 'who imports whom' },
  { script: 'lint', checks: 'promises, sizes, style' },
  { script: 'unused', checks: 'unused files, exports, packages' },
  { script: 'sql', checks: 'where SQL stands' },
  { script: 'names', checks: 'file names and paths of one machine' },
  { script: 'generated', checks: 'generated files' },
  { script: 'format:check', checks: 'format' },
  { script: 'docs', checks: 'paths that documents cite' },
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

/** Takes one check after the other until none is left. */
async function runWaiting(): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) outcomes.push(await run(check));
  return outcomes;
}

async function run({ script, checks }: Check): Promise<Outcome> {
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
