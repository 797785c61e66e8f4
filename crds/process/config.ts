import type { z } from 'zod';
import { settings, type SettingName } from '#crds/process/settings.ts';

/** Error of a start with invalid settings: `problems` has one sentence per setting. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The settings are not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Parses a process's settings. Empty text counts as not set.
 * @throws ConfigError with all unknown `MEDIAJOBS_…` settings and all malformed ones.
 */
export function loadConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
): z.infer<Schema> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const unknown = Object.keys(given)
    .filter((name) => name.startsWith('MEDIAJOBS_') && !Object.hasOwn(settings.shape, name))
    .map((name) => `${name}: unknown setting${suggestion(name)}.`);
  const parsed = schema.safeParse(given);
  const malformed = parsed.success
    ? []
    : parsed.error.issues.map((issue) => {
        const name = String(issue.path[0]);
        return Object.hasOwn(given, name) ? `${name}: ${issue.message}.` : `${name}: is required.`;
      });
  if (!parsed.success || unknown.length > 0) throw new ConfigError([...unknown, ...malformed]);
  return parsed.data;
}

function suggestion(name: string): string {
  const words = new Set(name.split('_'));
  const shared = (known: string): number => known.split('_').filter((word) => words.has(word)).length;
  const best = (Object.keys(settings.shape) as SettingName[]).toSorted((a, b) => shared(b) - shared(a))[0];
  return best !== undefined && shared(best) > 1 ? `; did you mean ${best}` : '';
}
