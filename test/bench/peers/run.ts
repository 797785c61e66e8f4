/**
 * Runs rows of the bench beside the peers and keeps what they measured:
 * `run.ts [--quick] [ROW | ROW:PART …]`, all rows without a name; a part of a case's name
 * chooses cases. Progress goes to the standard error. What a quick run
 * measures is printed and not kept. `--pages` measures nothing and writes the documents again.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, homedir, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from './benchmarks-page.ts';
import { winsOf } from './compare.ts';
import { keepMeasured, type MeasuredCase } from './measured.ts';
import { preparePeers, type ReadyPeers } from './prepare-peers.ts';
import { ROWS } from './rows.ts';
import { writePages } from './write-pages.ts';

const ROUNDS = 3;
const QUICK_ROUNDS = 1;
const GIB = 1024 ** 3;

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, pages: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const cache = process.env['MEDIAJOBS_BENCH_CACHE'] ?? join(homedir(), '.cache', 'mediajobs-bench');
await mkdir(cache, { recursive: true });
const say = (line: string): void => void process.stderr.write(`bench: ${line}\n`);
const wantedRows = positionals.length > 0 ? positionals : Object.keys(ROWS);
if (!values.pages) for (const wanted of wantedRows) await runRow(wanted);
if (!values.quick) writePages();

async function runRow(wanted: string): Promise<void> {
  const [name = '', part = ''] = wanted.split(':');
  const row = ROWS[name];
  if (row === undefined) throw new Error(`There is no row ${name}. The rows are ${Object.keys(ROWS).join(', ')}.`);
  if (!row.cases.some((one) => one.includes(part)))
    throw new Error(`${name} has no case with ${part}. Its cases are ${row.cases.join(', ')}.`);
  const peers = await preparePeers({ cache, env: process.env, say }, row.peers);
  const folder = await mkdtemp(join(tmpdir(), 'mediajobs-bench-'));
  try {
    const cases = row.measure({
      peers,
      cache,
      folder,
      rounds: values.quick ? QUICK_ROUNDS : ROUNDS,
      wanted: (one) => one.includes(part),
      say: (line) => say(`${name}: ${line}`),
    });
    for await (const { name: caseName, figures, remarks = {} } of cases) {
      const measured = { ...machine(), name: caseName, versions: versionsOf(peers), figures: [...figures], remarks };
      if (!values.quick) await keepMeasured(name, measured);
      process.stdout.write(`\n${name}: ${caseName}\n${table(row.columns, measured)}\n`);
      if (row.front !== undefined) printWins(winsOf(measured, row.front));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function printWins(wins: ReturnType<typeof winsOf>): void {
  for (const { who, metric, faster, smaller } of wins)
    process.stdout.write(
      `not on the front: ${who}, ${metric}: ${faster.toFixed(2)} × as fast, ${smaller.toFixed(2)} of the bytes\n`,
    );
}

function machine(): Pick<MeasuredCase, 'date' | 'cores' | 'memoryGib'> {
  const date = new Date().toISOString().slice(0, 10);
  return { date, cores: availableParallelism(), memoryGib: Math.round(totalmem() / GIB) };
}

function versionsOf(peers: ReadyPeers): Record<string, string> {
  const named = [...peers].map(([name, { version }]) => [name, version] as const);
  return { Node: process.versions.node, ...Object.fromEntries(named) };
}
