/** An answer of mediactl: one object, or a list of them, with the fields that a JSON reader gets. */
export type Answer = { readonly object: Fields; readonly note?: string } | { readonly list: readonly Fields[] };

type Fields = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/** JSON on one line, or text for people: `name  value` lines for an object, a table for a list. */
export function print(answer: Answer, form: 'json' | 'text'): string {
  if (form === 'json') {
    return `${JSON.stringify('list' in answer ? { object: 'list', data: answer.list } : answer.object)}\n`;
  }
  if ('list' in answer) return answer.list.length === 0 ? 'none\n' : table(answer.list);
  const rows = Object.entries(answer.object).map(([name, value]) => [title(name), cell(value)]);
  return aligned(rows) + (answer.note === undefined ? '' : `${answer.note}\n`);
}

function table(list: readonly Fields[]): string {
  const names = Object.keys(list[0] ?? {});
  return aligned([
    names.map((name) => title(name)),
    ...list.map((fields) => names.map((name) => cell(fields[name] ?? null))),
  ]);
}

function title(name: string): string {
  return name.replaceAll('_', ' ').toUpperCase();
}

function cell(value: Fields[string]): string {
  if (value === null) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return String(value);
  return value.length === 0 ? '-' : value.join(',');
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return rows.map((row) => `${line(row)}\n`).join('');
}
