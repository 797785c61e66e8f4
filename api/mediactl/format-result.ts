import { visibleJson, visibleLine } from '#crds/process/visible-text.ts';

/** Result of a mediactl command: one object or a list of objects, with the fields of the JSON form. */
export type CommandResult = { readonly object: Fields; readonly note?: string } | { readonly list: readonly Fields[] };

type Fields = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/**
 * Returns JSON on one line, or text: `name  value` lines for an object, a table for a list. Control characters in
 * values are escaped, so that they cannot control the terminal.
 */
export function formatResult(result: CommandResult, form: 'json' | 'text'): string {
  if (form === 'json') {
    return visibleJson(`${JSON.stringify('list' in result ? { object: 'list', data: result.list } : result.object)}\n`);
  }
  if ('list' in result) return result.list.length === 0 ? 'none\n' : table(result.list);
  const rows = Object.entries(result.object).map(([name, value]) => [title(name), cell(value)]);
  return alignColumns(rows) + (result.note === undefined ? '' : `${visibleLine(result.note)}\n`);
}

function table(list: readonly Fields[]): string {
  const names = Object.keys(list[0] ?? {});
  return alignColumns([
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
  if (typeof value !== 'object') return visibleLine(String(value));
  return value.length === 0 ? '-' : visibleLine(value.join(','));
}

function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return rows.map((row) => `${line(row)}\n`).join('');
}
