import { makeRandom } from './random.ts';

const FIRST = [
  'Ada',
  'Bruno',
  'Chiara',
  'Deniz',
  'Eva',
  'Farid',
  'Greta',
  'Hugo',
  'Inés',
  'Jörg',
  'Kaja',
  'Luís',
  'Mei',
  'Noor',
  'Özge',
  'Pál',
];
const LAST = [
  'Abebe',
  'Brandt',
  "O'Connor",
  'Dvořák',
  'Eriksen',
  'Ferreira',
  'Gruber',
  'Haddad',
  'Ivanova',
  'Jansen',
  'Kovács',
  'Lindqvist',
];
const TOWNS = ['Graz', 'Porto', 'Tromsø', 'Łódź', 'Saint-Étienne', 'Cork, Ireland', 'Ghent', 'Tartu', 'Patras'];
const NOTES = [
  '',
  'called back',
  'said "not before May"',
  'two lines:\nsecond line',
  'prefers e-mail; no phone',
  '=2+3 is text here',
  '  spaces kept  ',
];

/** Returns a CSV table with quotes, commas, line breaks, leading zeros, empty fields and accents. */
export function people(rows: number, seed: number): string {
  return linesOf(rows, seed)
    .map((line) => `${line.map(quoted).join(',')}\r\n`)
    .join('');
}

const WRITERS = {
  tsv: (lines) => lines.map((line) => `${line.map((field) => field.replaceAll('\n', ' ')).join('\t')}\n`).join(''),
  json: (lines) => `${JSON.stringify(objectsOf(lines), null, 1)}\n`,
  ndjson: (lines) =>
    objectsOf(lines)
      .map((object) => `${JSON.stringify(object)}\n`)
      .join(''),
  html: (lines) => {
    const rows = lines.map((line) => `<tr>${line.map((field) => `<td>${escaped(field)}</td>`).join('')}</tr>`);
    return `<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>People</title></head><body><table>\n${rows.join('\n')}\n</table></body></html>\n`;
  },
  md: (lines) => {
    const rows = lines.map((line) => `| ${line.map((field) => escaped(field).replaceAll('\n', '<br>')).join(' | ')} |`);
    return [rows[0], `|${'---|'.repeat(lines[0]?.length ?? 0)}`, ...rows.slice(1), ''].join('\n');
  },
} as const satisfies Record<string, (lines: readonly (readonly string[])[]) => string>;

/** Returns the same list in another format. */
export function peopleTable(format: keyof typeof WRITERS, rows: number, seed: number): string {
  return WRITERS[format](linesOf(rows, seed));
}

function linesOf(rows: number, seed: number): string[][] {
  const random = makeRandom(seed);
  const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? '';
  const lines = [['id', 'name', 'town', 'joined', 'balance', 'active', 'note']];
  for (let row = 1; row <= rows; row += 1) {
    const joined = new Date(
      Date.UTC(2015 + Math.floor(random() * 11), Math.floor(random() * 12), 1 + Math.floor(random() * 28)),
    );
    lines.push([
      String(row * 10).padStart(4, '0'),
      `${pick(FIRST)} ${pick(LAST)}`,
      pick(TOWNS),
      joined.toISOString().slice(0, 10),
      (random() * 5000 - 1000).toFixed(2),
      random() < 0.8 ? 'true' : 'false',
      pick(NOTES),
    ]);
  }
  return lines;
}

function objectsOf([names = [], ...lines]: readonly (readonly string[])[]): Record<string, string>[] {
  return lines.map((line) => Object.fromEntries(names.map((name, i) => [name, line[i] ?? ''])));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('|', '&#124;');
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
