const ERROR_LEVEL = 50;

/** Returns the error of a log line in one sentence for the operator; null for lines below the level `error`. */
export function problemOf(line: string): string | null {
  const entry = parse(line);
  if (entry === null) return line === '' ? null : line;
  if (typeof entry['level'] !== 'number' || entry['level'] < ERROR_LEVEL) return null;
  const cause = entry['err'] as { message?: unknown } | undefined;
  const parts = [entry['msg'], cause?.message].filter((part) => typeof part === 'string');
  return parts.join(': ');
}

function parse(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}
