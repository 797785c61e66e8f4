/**
 * Places where the order of two steps matters, by name, so that a test can end or stop a process exactly there.
 *
 *   armed: the test puts a file of the point's name into the folder ──the first process that comes by──▶ `<name>.taken`
 *   crash: the process is gone at once · fail: the step throws · hold: it waits until the test removes the taken file
 *
 * Without the setting `MEDIAJOBS_FAULTS_DIR`, as everywhere but in tests, a point does nothing. The folder is this
 * module's own state: handed down to every step, it would be in the way of those who read them.
 */
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '#crds/shared/log.ts';

export type FaultPoint =
  | 'after-idempotency-claim'
  | 'before-job-commit'
  | 'after-job-insert'
  | 'after-upload-stored'
  | 'after-parts-joined'
  | 'after-upload-completed'
  | 'before-direct-count'
  | 'after-direct-count'
  | 'before-engine-answer'
  | 'before-dispatch'
  | 'after-dispatch'
  | 'before-attempt-start'
  | 'after-attempt-start'
  | 'before-output-put'
  | 'after-output-put'
  | 'after-outcome'
  | 'after-input-stored'
  | 'after-output-sent'
  | 'before-final-commit'
  | 'after-final-commit'
  | 'before-webhook-post'
  | 'after-webhook-answer'
  | 'after-file-deletion';

/** What an armed point does; the text of its file. */
export type Fault = 'crash' | 'fail' | 'hold';

const LOOK_EVERY_MS = 5;

let folder: string | null = null;

/** Called by each composition root with its setting. */
export function armFaultPoints({ log }: { log: Pick<Log, 'warn'> }, directory: string | undefined): void {
  if (directory === undefined) return;
  folder = directory;
  log.warn({ folder }, 'MEDIAJOBS_FAULTS_DIR is set: this process fails when told to, as only a test may want it');
}

/** Does what the point is armed for. @throws Error when that is to fail */
export async function faultPoint(name: FaultPoint): Promise<void> {
  if (folder === null) return;
  const taken = take(folder, name);
  if (taken === null) return;
  switch (readFileSync(taken, 'utf8') as Fault) {
    case 'crash':
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => undefined);
    case 'fail':
      throw new Error(`fault point ${name}`);
    case 'hold':
      while (existsSync(taken)) await delay(LOOK_EVERY_MS);
  }
}

/** Path of the file that this process alone has now; null when the point is not armed. */
function take(directory: string, name: FaultPoint): string | null {
  const taken = join(directory, `${name}.taken`);
  try {
    renameSync(join(directory, name), taken);
    return taken;
  } catch {
    return null;
  }
}
