/**
 * Named fault points between steps whose order matters, so that a test can kill or block a process exactly there.
 *
 *   armed: a test creates a file with the point's name in the folder ──first process at the point──▶ `<name>.claimed`
 *   crash: the process is killed · fail: the step throws · hold: it waits until the test removes the `.claimed` file
 *
 * Without the setting `MEDIAJOBS_FAULTS_DIR`, which only tests set, a point does nothing. The folder is module state,
 * so that the steps need no further parameter.
 */
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '#crds/process/log.ts';

export type FaultPoint =
  | 'after-idempotency-claim'
  | 'before-job-commit'
  | 'after-job-insert'
  | 'after-upload-stored'
  | 'after-parts-joined'
  | 'after-upload-completed'
  | 'before-direct-count'
  | 'after-direct-count'
  | 'before-engine-response'
  | 'before-dispatch'
  | 'after-dispatch'
  | 'before-attempt-start'
  | 'after-attempt-start'
  | 'after-standby-bound'
  | 'before-output-put'
  | 'after-output-put'
  | 'after-outcome'
  | 'after-input-stored'
  | 'after-output-sent'
  | 'before-final-commit'
  | 'after-final-commit'
  | 'before-webhook-post'
  | 'after-webhook-response'
  | 'after-file-deletion';

/** Effect of an armed point; the text of its file. */
export type Fault = 'crash' | 'fail' | 'hold';

/** Interval between checks of a blocked point's file, in milliseconds. */
const HOLD_POLL_MS = 5;

let folder: string | null = null;

/** Enables the fault points of a process. Each composition root calls it with its setting. */
export function armFaultPoints({ log }: { log: Pick<Log, 'warn'> }, directory: string | undefined): void {
  if (directory === undefined) return;
  folder = directory;
  log.warn({ folder }, 'MEDIAJOBS_FAULTS_DIR is set: this process fails on command, which is for tests only');
}

/** Executes the fault that the point is armed with. @throws Error for the fault `fail`. */
export async function faultPoint(name: FaultPoint): Promise<void> {
  if (folder === null) return;
  const claimed = claimFault(folder, name);
  if (claimed === null) return;
  switch (readFileSync(claimed, 'utf8') as Fault) {
    case 'crash':
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => undefined);
    case 'fail':
      throw new Error(`fault point ${name}`);
    case 'hold':
      while (existsSync(claimed)) await delay(HOLD_POLL_MS);
  }
}

/** Renames the point's file, so that one process executes the fault. Returns its path; null when it is not armed. */
function claimFault(directory: string, name: FaultPoint): string | null {
  const claimed = join(directory, `${name}.claimed`);
  try {
    renameSync(join(directory, name), claimed);
    return claimed;
  } catch {
    return null;
  }
}
