/** File system view of one process: everything but the data folder and folders closed to other users, and of these only the needed paths. */
import { statSync } from 'node:fs';
import path from 'node:path';

export type ViewOperation = readonly ['hide' | 'show', string];

/**
 * Returns the operations that hide `hidden` and every folder above a needed path that other users may not enter, and
 * that show the needed paths in them. Paths are resolved; needed paths exist.
 */
export function fileView(hidden: string, needed: readonly string[]): ViewOperation[] {
  const closed = needed.flatMap((one) => closedAbove(one) ?? []);
  const wanted: ViewOperation[] = [
    ...[...new Set([hidden, ...closed])].map((one) => ['hide', one] as const),
    ...[...new Set(needed)].map((one) => ['show', one] as const),
  ];
  const operations: ViewOperation[] = [];
  for (const operation of wanted.toSorted(inOrder)) if (hasEffect(operations, operation)) operations.push(operation);
  return operations;
}

/** Orders a folder before its contents, and `hide` before `show` of the same path. */
function inOrder([action, one]: ViewOperation, [, other]: ViewOperation): number {
  if (one === other) return action === 'hide' ? -1 : 1;
  return `${one}/` < `${other}/` ? -1 : 1;
}

/** Returns whether the operation changes anything: below a hidden folder only `show` does, elsewhere only `hide`. */
function hasEffect(before: readonly ViewOperation[], [action, one]: ViewOperation): boolean {
  const above = before.findLast(([, folder]) => isInside(one, folder));
  return action === 'show' ? above?.[0] === 'hide' : above?.[0] !== 'hide';
}

/** Returns the topmost ancestor that other users may not enter; null when they may enter every one. */
function closedAbove(needed: string): string | null {
  const above = path.dirname(needed);
  if (above === needed) return null;
  return closedAbove(above) ?? ((statSync(above).mode & 0o001) === 0 ? above : null);
}

function isInside(one: string, folder: string): boolean {
  return one === folder || one.startsWith(`${folder}/`);
}
