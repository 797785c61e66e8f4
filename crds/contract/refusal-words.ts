/** Suggestions for misspelt names, and the words of messages about values that a schema refuses. */
import type { z } from 'zod';

/** Maximum number of changed, added or dropped characters of a misspelt name. */
const MAX_EDITS = 2;

/** Returns ` Did you mean …?` with the names closest to a misspelt one; empty without a close one. */
export function suggestion(name: string, names: readonly string[]): string {
  const found = closestNames(name, names);
  return found.length === 0 ? '' : ` Did you mean ${found.map((one) => `\`${one}\``).join(' or ')}?`;
}

/** Returns what to do about an unknown name: ` Did you mean …?`, or to remove it where no name is close. */
export function adviceOn(name: string, names: readonly string[]): string {
  return suggestion(name, names) || ' Remove it or check its spelling.';
}

/** Returns the closest names, also those whose last component is the name; at most three. */
function closestNames(name: string, names: readonly string[]): readonly string[] {
  const [searched, limit] = [name.slice(0, 100).toLowerCase(), name.length > 4 ? MAX_EDITS : 1];
  const ranked = names
    .map((candidate) => {
      const whole = candidate.toLowerCase();
      // No fewer edits than the difference in length: the others need not be counted.
      const near = [whole, whole.split('.').at(-1) ?? ''].filter(
        ({ length }) => Math.abs(length - searched.length) <= limit,
      );
      return { candidate, edits: Math.min(...near.map((one) => editsBetween(searched, one))) };
    })
    .filter(({ edits }) => edits <= limit);
  const least = Math.min(...ranked.map(({ edits }) => edits));
  return ranked
    .filter(({ edits }) => edits === least)
    .map(({ candidate }) => candidate)
    .slice(0, 3);
}

/** Returns the number of single characters to change, add or drop; a swap of neighbors is one. */
function editsBetween(left: string, right: string): number {
  let beforePrevious: readonly number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (const [row, character] of left.split('').entries()) {
    const current = [row + 1];
    for (const [column, other] of right.split('').entries()) {
      const replaced = cell(previous, column) + (character === other ? 0 : 1);
      const isSwap = character === right[column - 1] && other === left[row - 1];
      const swapped = isSwap ? cell(beforePrevious, column - 1) + 1 : Infinity;
      current.push(Math.min(cell(previous, column + 1) + 1, cell(current, column) + 1, replaced, swapped));
    }
    [beforePrevious, previous] = [previous, current];
  }
  return previous.at(-1) ?? 0;
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? 0;
}

/** Maximum number of characters of a value that a message repeats. */
const MAX_REPEATED = 100;

/**
 * Returns what is wrong with a value, with the value unless it is an object, and what it has to be. The parse needs
 * `reportInput`, otherwise the value is not in the issue.
 */
export function refusedValue(path: string, issue: z.core.$ZodIssue): string {
  const { code, input } = issue;
  if (input === undefined) return `\`${path}\` is missing; it is required.`;
  // The input of a refused name is the name.
  const isShown = code !== 'invalid_key' && (typeof input !== 'object' || input === null) && !isUrl(input);
  const text = isShown ? JSON.stringify(input) : null;
  const problem = text === null ? 'is not valid' : `is \`${text.slice(0, MAX_REPEATED)}\``;
  return `\`${path}\` ${problem}: ${requirementOf(issue)}.`;
}

/** Returns true for the text of a URL, whose query or user name may be a secret. */
function isUrl(input: unknown): boolean {
  return typeof input === 'string' && input.includes('://');
}

/** Returns what a refused value has to be, in place of the validator's words; a schema's own message unchanged. */
export function requirementOf(issue: z.core.$ZodIssue): string {
  const nameIssue = issue.code === 'invalid_key' ? issue.issues[0] : undefined;
  return nameIssue === undefined ? ruleOf(issue) : `its name is not allowed: ${ruleOf(nameIssue)}`;
}

function ruleOf(issue: z.core.$ZodIssue): string {
  if (!/^(Too (big|small)|Invalid (input|option|string))/.test(issue.message)) return issue.message;
  if (issue.code === 'too_big') return `the maximum is ${counted(issue.maximum, issue.origin)}`;
  if (issue.code === 'too_small') {
    const limit = counted(issue.minimum, issue.origin);
    return issue.inclusive === false ? `it has to be above ${limit}` : `the minimum is ${limit}`;
  }
  if (issue.code === 'invalid_type') return `it has to be ${withArticle(TYPE_NAMES[issue.expected] ?? issue.expected)}`;
  if (issue.code !== 'invalid_value') return issue.message;
  return `it has to be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = { int: 'whole number', record: 'object' };

/** Returns the word with “a” or “an” before it. */
export function withArticle(word: string): string {
  return `${/^[aeiou]/i.test(word) ? 'an' : 'a'} ${word}`;
}

/** Returns a limit with its unit, such as `40 characters`. */
function counted(limit: number | bigint, origin: string): string {
  const isOne = Number(limit) === 1;
  if (origin === 'string') return `${limit} ${isOne ? 'character' : 'characters'}`;
  return origin === 'array' || origin === 'object' ? `${limit} ${isOne ? 'entry' : 'entries'}` : String(limit);
}
