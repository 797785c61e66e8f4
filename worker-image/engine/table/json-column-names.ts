/** Members of a root object that may list the names of the columns. */
export const NAMES_KEYS: ReadonlySet<string> = new Set(['columns', 'fields', 'meta']);

/**
 * Returns the column names that a member lists as texts, as numbers or as objects with a `name`; null without any.
 * Socrata lists them under `view.columns` of `meta`.
 */
export function columnNamesIn(json: string): string[] | null {
  const value = parsed(json);
  const list = Array.isArray(value) ? value : member(member(value, 'view'), 'columns');
  if (!Array.isArray(list)) return null;
  const names = list.map(nameOf);
  return names.every((name) => name !== null) ? names : null;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

function nameOf(column: unknown): string | null {
  const name = typeof column === 'object' ? member(column, 'name') : column;
  return typeof name === 'string' || typeof name === 'number' ? String(name) : null;
}
