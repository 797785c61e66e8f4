/** Large tables from CSV to JSON and to a workbook. */
import { createWriteStream } from 'node:fs';
import { copyFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { runInEngine } from '#test/bench/engine-run.ts';
import { OURS } from '../measured.ts';
import type { ReadyPeers } from '../prepare-peers.ts';
import { peakMemory, treeOf } from '../process-memory.ts';
import { csvPieces } from '../csv-pieces.ts';
import { Samples, type Bench, type CaseFigures, type Row } from '../row.ts';
import { runProgram } from '../run-program.ts';

const MIB = 1024 ** 2;
const CASES = {
  '100 MB of csv to json': { mebibytes: 100, to: 'json' },
  '25 MB of csv to xlsx': { mebibytes: 25, to: 'xlsx' },
} as const;

export const tables: Row = {
  title: 'Tables',
  about: `The engine as for a job, in a process of its own, and programs of a few lines around pandas (\`read_csv\` with text columns,
\`to_json\`, \`to_excel\`) and SheetJS, in a process of their own too. All keep the text of every cell.`,
  peers: ['pandas', 'SheetJS'],
  columns: [
    { title: 'seconds', metrics: ['seconds'], digits: 1, noise: true, ratio: true },
    { title: 'MiB', metrics: ['memory'], digits: 0, ratio: true },
    { title: 'bytes', metrics: ['bytes'], digits: 0 },
  ],
  front: { speed: { metrics: ['seconds'], better: 'less' } },
  cases: Object.keys(CASES),
  measure,
};

type Convert = (input: string, output: string) => Promise<number>;

async function* measure(bench: Bench): AsyncGenerator<CaseFigures> {
  for (const [name, { mebibytes, to }] of Object.entries(CASES)) {
    if (!bench.wanted(name)) continue;
    const input = join(bench.folder, `rows-${mebibytes}.csv`);
    await pipeline(Readable.from(csvPieces(mebibytes * MIB)), createWriteStream(input));
    yield { name, ...(await measureCase(bench, { name, input, to, converters: await converters(bench, to) })) };
  }
}

interface Measuring {
  readonly name: string;
  readonly input: string;
  readonly to: 'json' | 'xlsx';
  readonly converters: Readonly<Record<string, Convert>>;
}

async function measureCase(
  bench: Bench,
  { name, input, to, converters }: Measuring,
): Promise<Omit<CaseFigures, 'name'>> {
  const samples = new Samples();
  const remarks: Record<string, string> = {};
  const output = join(bench.folder, `made.${to}`);
  // One round more looks at memory, which takes some CPU.
  for (let round = 0; round <= bench.rounds; round += 1) {
    const isTimed = round < bench.rounds;
    for (const [who, convert] of Object.entries(converters)) {
      if (remarks[who] !== undefined) continue;
      bench.say(`${name}: ${isTimed ? `round ${round + 1} of ${bench.rounds}` : 'memory'}, ${who}`);
      const work = isTimed ? convert(input, output) : memoryOf(convert, input, output);
      const found = await work.catch((error: unknown) => String(error));
      if (typeof found === 'string') remarks[who] = `cannot do it (${found.replaceAll(/\s+/g, ' ').slice(0, 160)})`;
      else samples.add(who, isTimed ? 'seconds' : 'memory', found);
      if (round === 0 && typeof found === 'number') samples.add(who, 'bytes', (await stat(output)).size);
    }
  }
  return { figures: samples.figures, remarks };
}

async function memoryOf(convert: Convert, input: string, output: string): Promise<number> {
  const standing = new Set(treeOf(process.pid));
  const begun = (): number[] => treeOf(process.pid).filter((pid) => !standing.has(pid));
  return peakMemory(begun, () => convert(input, output));
}

async function converters({ folder, peers }: Bench, to: 'json' | 'xlsx'): Promise<Readonly<Record<string, Convert>>> {
  const ours: Convert = async (path, output) => {
    const { seconds } = await runInEngine({ path, operation: 'convert', options: { convert: { to } } }, (made) =>
      copyFile(made, output),
    );
    return seconds;
  };
  return { [OURS]: ours, ...pandas(peers, to), ...(await sheetJs({ folder, peers }, to)) };
}

function pandas(peers: ReadyPeers, to: 'json' | 'xlsx'): Record<string, Convert> {
  const ready = peers.get('pandas');
  if (ready === undefined) return {};
  const write =
    to === 'json' ? "to_json(sys.argv[2], orient='records', force_ascii=False)" : 'to_excel(sys.argv[2], index=False)';
  const script = `import pandas, sys\npandas.read_csv(sys.argv[1], dtype=str, keep_default_na=False).${write}`;
  const python = join(ready.folder, 'bin', 'python');
  return { pandas: (input, output) => runProgram(python, ['-c', script, input, output]) };
}

async function sheetJs(
  { folder, peers }: Pick<Bench, 'folder' | 'peers'>,
  to: 'json' | 'xlsx',
): Promise<Record<string, Convert>> {
  const ready = peers.get('SheetJS');
  if (ready === undefined) return {};
  const script = join(folder, 'sheetjs.cjs');
  const write =
    to === 'json'
      ? 'fs.writeFileSync(output, JSON.stringify(XLSX.utils.sheet_to_json(sheet)))'
      : 'XLSX.writeFile(book, output)';
  await writeFile(
    script,
    `const [, , home, input, output] = process.argv;
const XLSX = require(home + '/node_modules/xlsx');
const fs = require('node:fs');
const book = XLSX.read(fs.readFileSync(input, 'utf8'), { type: 'string', raw: true, dense: true });
const sheet = book.Sheets[book.SheetNames[0]];
${write};
`,
  );
  const run: Convert = (input, output) => runProgram(process.execPath, [script, ready.folder, input, output]);
  return { SheetJS: run };
}
