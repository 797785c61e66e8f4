import { readdirSync, readFileSync } from 'node:fs';

/** Ends the process and all that descend from it with SIGKILL. */
export function killTree(root: number): void {
  const parents = new Map(
    readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0)
      .map((pid) => [pid, parentOf(pid)]),
  );
  const doomed = new Set([root]);
  // A set grows while it is walked: each round adds the children of the next one.
  for (const parent of doomed) {
    for (const [pid, its] of parents) if (its === parent) doomed.add(pid);
  }
  for (const pid of doomed) kill(pid);
}

/** null when it is gone. The name, in brackets, may hold anything; the parent is the second field after it. */
function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return null;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself meanwhile.
  }
}
