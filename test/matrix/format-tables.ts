/** Tables of supported formats for the documentation: one per kind, from the cells that passed. */
import {
  CONVERT_TARGETS,
  FORMAT_NAMES,
  FORMATS,
  KINDS,
  OPERATION_KINDS,
  type Format,
  type Kind,
} from '#crds/catalogue/formats.ts';
import { CELLS, compressChoices, nameOf } from '#test/matrix/cells.ts';

const HEAD = `<!-- Written by test/matrix from what passed. Do not edit. -->

# Formats

Every cell was run by \`test/matrix\` through the engine with the real tools: ✓ a result that was opened again and
compared with its input, – a refusal with the code that the interface names. A compressed file that would be larger
than the input comes back as the input, in the input's format. The camera RAW files of the run were written by our own
code in each maker's layout, uncompressed; no camera took them.

`;

const TITLES: Readonly<Record<Kind, string>> = {
  image: 'Images',
  pdf: 'PDF',
  video: 'Video',
  audio: 'Audio',
  word: 'Word-processing documents',
  sheet: 'Spreadsheets',
  presentation: 'Presentations',
  table: 'Tables',
  font: 'Fonts',
};

/** Returns the page as Markdown. @param passed Names of the cells that passed. */
export function formatTables(passed: ReadonlySet<string>): string {
  return `${HEAD}${KINDS.map((kind) => section(kind, passed)).join('\n')}`;
}

interface Column {
  readonly title: string;
  readonly operation: string;
  readonly target: string;
}

function section(kind: Kind, passed: ReadonlySet<string>): string {
  const parts = [`## ${TITLES[kind]}\n`];
  if (OPERATION_KINDS.compress.includes(kind)) {
    const what = kind === 'pdf' ? 'compress, `pdf.quality`' : `compress, \`${kind}.format\``;
    parts.push(table(kind, what, columns('compress', compressChoices(kind)), passed));
  }
  parts.push(table(kind, 'convert, `to`', columns('convert', CONVERT_TARGETS[kind]), passed));
  if (OPERATION_KINDS.strip_metadata.includes(kind)) {
    parts.push(
      table(kind, 'strip_metadata', [{ title: 'same format', operation: 'strip_metadata', target: '–' }], passed),
    );
  }
  return parts.join('\n');
}

function columns(operation: string, targets: readonly string[]): Column[] {
  return targets.map((target) => ({ title: target, operation, target }));
}

function table(kind: Kind, title: string, columns: readonly Column[], passed: ReadonlySet<string>): string {
  const lines = inputsOf(kind).map((input) => {
    const marks = columns.map(({ operation, target }) => mark(input, operation, target, passed));
    return `| ${[input, ...marks].join(' | ')} |`;
  });
  return [
    `| ${[title, ...columns.map((column) => column.title)].join(' | ')} |`,
    `|${'---|'.repeat(columns.length + 1)}`,
    ...lines,
    '',
  ].join('\n');
}

function mark(input: Format, operation: string, target: string, passed: ReadonlySet<string>): string {
  const cell = CELLS.find((one) => one.input === input && one.operation === operation && one.target === target);
  if (cell === undefined || !passed.has(nameOf(cell))) return 'fails';
  return cell.refusal === null ? '✓' : '–';
}

function inputsOf(kind: Kind): Format[] {
  return FORMAT_NAMES.filter((format) => FORMATS[format].kind === kind && FORMATS[format].input);
}
