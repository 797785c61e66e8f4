/** The page of the benchmarks, made of what was measured and of the notes about it. No figure in it is typed by hand. */
import { existsSync, readFileSync } from 'node:fs';
import { median } from '#test/bench/print-figures.ts';
import { leadsOf, noiseOf, ratioToOurs, winsOf, type Win } from './compare.ts';
import { OURS, readMeasured, samplesOf, type MeasuredCase } from './measured.ts';
import type { Column, Row } from './row.ts';
import { ROWS } from './rows.ts';
import { sizing } from './rows/sizing.ts';

/** Returns the page; rows that were never measured are omitted. */
export function benchmarksPage(): string {
  const parts = Object.entries(ROWS).map(([name, row]) => rowPart(name, row));
  return `# Benchmarks

<!-- Written by hack/bench; do not edit. The notes are in test/bench/peers/notes/. -->

The service compared with other programs for the same work, measured by \`hack/bench\`: it installs the peers from the
package registries, measures them and the service in alternating rounds on one machine, and writes this page. A figure
is the median of the rounds; ± is half of the range from the lowest to the highest. "×" is the median of the rounds'
ratios to the service's own figure: 2 × is twice as much.

\`hack/bench\` measures everything again, \`hack/bench ROW\` one row (${Object.keys(ROWS).join(', ')}),
\`hack/bench ROW:PART\` the cases with that part in their name; \`--quick\` measures one round and stores nothing. imgproxy and Gotenberg are not packages: they are measured when
\`IMGPROXY_BIN\` and \`GOTENBERG_BIN\` name their binaries (\`GOTENBERG_VERSION\` is the version of the latter).

${leadsPart()}
${parts.filter((part) => part !== '').join('\n')}`;
}

/** Returns where a peer is faster: of each case the largest lead, the largest of all first. */
function leadsPart(): string {
  const compared = Object.entries(ROWS).flatMap(([name, row]) =>
    measuredCases(name, row).flatMap((one) => (row.front === undefined ? [] : [{ one, row, front: row.front }])),
  );
  const led = compared.flatMap((work) => {
    const [lead] = leadsOf(work.one, work.front);
    return lead === undefined ? [] : [{ ...work, lead }];
  });
  const lines = led
    .toSorted((one, other) => other.lead.faster - one.lead.faster)
    .map(({ one, row, front: { size, similarity }, lead: { who, metric, faster } }) => [
      one.name,
      who,
      `${faster.toFixed(2)} ×`,
      row.columns.find(({ metrics }) => metrics.includes(metric))?.title ?? metric,
      timesOurs(one, who, size),
      pairOf(one, who, similarity),
      plainText(one.remarks[who] ?? ''),
    ]);
  return `## Where a peer is faster

In ${led.length} of ${compared.length} cases a peer is faster somewhere by more than the noise of the rounds. Of each case the fastest peer, at the point where its
lead is largest; its bytes as a multiple of the service's, and how similar to the input its result and the service's are (SSIMULACRA2; SSIM for
videos), where that was measured. Below each kind of work it says why.

${aligned(['work', 'fastest peer', 'times as fast', 'measured', 'its bytes', 'its similarity / ours', 'besides'], lines)}
`;
}

function timesOurs(one: MeasuredCase, who: string, metric: string | undefined): string {
  const ratio = metric === undefined ? null : ratioToOurs(one, who, metric);
  return ratio === null ? '–' : `${ratio.toFixed(2)} ×`;
}

function pairOf(one: MeasuredCase, who: string, metric: string | undefined): string {
  const both = metric === undefined ? [] : [who, OURS].map((name) => samplesOf(one, name, metric));
  const isMeasured = both.length > 0 && both.every((samples) => samples.length > 0);
  return isMeasured ? both.map((samples) => median(samples).toFixed(1)).join(' / ') : '–';
}

/** Returns the resources that a file of each kind needs, one line each. */
export function sizingTable(): string {
  const cases = readMeasured('sizing').filter(({ name }) => sizing.cases.includes(name));
  const metrics = new Set(cases.flatMap(({ figures }) => figures.map(({ metric }) => metric)));
  const used = sizing.columns.filter((column) => column.metrics.every((metric) => metrics.has(metric)));
  const columns = used.map((column) => ({ ...column, noise: false }));
  const lines = cases.map((one) => [one.name, ...columns.map((column) => cell(one, OURS, column))]);
  return `${aligned(['file', ...columns.map(({ title }) => title)], lines)}\n\n${measuredOn(cases)}`;
}

function rowPart(name: string, row: Row): string {
  const cases = measuredCases(name, row);
  if (cases.length === 0) return '';
  const notes = new URL(`./notes/${name}.md`, import.meta.url);
  const said = existsSync(notes) ? `${readFileSync(notes, 'utf8').trim()}\n\n` : '';
  const tables = cases.map((one) => `### ${one.name}\n\n${table(row.columns, one)}\n${remarks(one)}`);
  return `## ${row.title}\n\n${row.about}\n\n${tables.join('\n')}\n${frontPart(row, cases)}${said}${measuredOn(cases)}`;
}

/** Returns the cases in the order of the row. */
function measuredCases(name: string, row: Row): MeasuredCase[] {
  const cases = readMeasured(name).filter((one) => row.cases.includes(one.name));
  return cases.toSorted((one, other) => row.cases.indexOf(one.name) - row.cases.indexOf(other.name));
}

export function table(columns: readonly Column[], one: MeasuredCase): string {
  const who = [...new Set(one.figures.map((figure) => figure.who))];
  const used = columns.filter(({ metrics }) => one.figures.some(({ metric }) => metrics.includes(metric)));
  const lines = who.map((name) => [name, ...used.map((column) => cell(one, name, column))]);
  return aligned(['', ...used.map(({ title }) => title)], lines);
}

function cell(one: MeasuredCase, who: string, column: Column): string {
  const { metrics, digits, noise = false, ratio = false } = column;
  const all = metrics.map((metric) => samplesOf(one, who, metric));
  if (all.some((samples) => samples.length === 0)) return '–';
  const figure = all.map((samples) => median(samples).toFixed(digits)).join(' / ');
  const [first = []] = all;
  const spread = noise && first.length > 1 ? ` ±${Math.ceil(100 * noiseOf(first))} %` : '';
  const times = ratio && who !== OURS ? ratioToOurs(one, who, metrics[0] ?? '') : null;
  return `${figure}${spread}${times === null ? '' : ` (${times.toFixed(2)} ×)`}`;
}

function remarks({ remarks }: MeasuredCase): string {
  const lines = Object.entries(remarks).map(([who, what]) => `- ${who}: ${plainText(what)}`);
  return lines.length === 0 ? '' : `\n${lines.join('\n')}\n`;
}

/** Escapes a remark, which can be a program's output: `<` would begin a tag of the page, `|` a cell. */
function plainText(remark: string): string {
  return remark.replaceAll('<', '&lt;').replaceAll('|', '\\|');
}

function frontPart({ front }: Row, cases: readonly MeasuredCase[]): string {
  if (front?.size === undefined) return '';
  const wins = cases.flatMap((one) => winsOf(one, front).map((win) => sentence(one.name, win)));
  if (wins.length === 0) return '**Front:** no peer is both faster and smaller at an equal result.\n\n';
  return `**Front:** both faster and smaller at an equal result:\n\n${wins.join('\n')}\n\n`;
}

function sentence(name: string, { who, metric, faster, smaller }: Win): string {
  return `- ${name}: ${who} (${metric}: ${faster.toFixed(2)} times as fast, ${smaller.toFixed(2)} of the bytes)`;
}

function measuredOn(cases: readonly MeasuredCase[]): string {
  const unique = (values: readonly string[]): string => [...new Set(values)].toSorted().join(', ');
  const dates = unique(cases.map(({ date }) => date));
  const machines = unique(cases.map(({ cores, memoryGib }) => `${cores} cores and ${memoryGib} GiB of memory`));
  const versions = unique(cases.flatMap((one) => Object.entries(one.versions).map((entry) => entry.join(' '))));
  return `Measured on ${dates} with ${machines}: ${versions}.\n`;
}

/** Columns of equal width. */
function aligned(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = head.map((title, at) => Math.max(3, title.length, ...lines.map((line) => (line[at] ?? '').length)));
  const write = (cells: readonly string[]): string =>
    `| ${cells.map((text, at) => text.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [write(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...lines.map(write)].join('\n');
}
