/**
 * The process that decodes strangers' bytes: one file at a time, no secrets, no network where the
 * machine allows that. It lives by its owner: when the owner goes, it ends its tools and itself.
 *
 *   starting ─→ idle ⇄ working ─→ (killed, or the owner is gone)
 */
import { readdir } from 'node:fs/promises';
import { KINDS, type Kind } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import type { FromChild, ToChild } from '#worker-image/engine/child-messages.ts';
import { OWN_MEMORY, TELL_GROUPS, WARM } from '#worker-image/engine/child-messages.ts';
import { loadHandler } from '#worker-image/engine/handlers.ts';
import { processFile } from '#worker-image/engine/process-file.ts';
import { makeRunCommand, ToolKilled, type RunCommand } from '#worker-image/tools/run-command.ts';

let working: AbortController | null = null;
const groups = new Set<number>();
const MEMORY = ['/tmp', '/dev/shm'];
const namesAtStart = namesInMemory();

const runTool = makeRunCommand({
  onGroup: (pid, alive) => {
    if (alive) groups.add(pid);
    else groups.delete(pid);
    if (process.argv.includes(TELL_GROUPS)) tell({ type: 'group', pid, alive });
  },
});
/** The loss of a tool ends the work, whatever a handler would make of it: the file is not to blame. */
const run: RunCommand = (command) =>
  runTool(command).catch((error: unknown) => {
    if (error instanceof ToolKilled) working?.abort(error);
    throw error;
  });

process.on('message', (message: ToChild) => {
  if (message.type === 'abort') working?.abort(new MediaError('canceled', 'The work was stopped.'));
  else if (message.type === 'expect') void prepare(message.kind);
  else void work(message);
});
process.once('disconnect', end);
process.once('SIGTERM', end);
process.on('uncaughtException', (error) =>
  tell({ type: 'bug', stack: error.stack ?? String(error) }, () => process.exit(1)),
);
if (process.argv.includes(WARM)) await Promise.all(KINDS.map(prepare)).then(() => process.disconnect?.());

/** Loads the kind's code while the file is still coming in. What fails here fails again with the file, and is told then. */
async function prepare(kind: Kind): Promise<void> {
  await loadHandler(kind)
    .then((handler) => handler.prepare?.())
    .catch(() => undefined);
}

async function work({ task, versions }: Extract<ToChild, { type: 'process' }>): Promise<void> {
  working = new AbortController();
  let told = 0;
  const onProgress = (percent: number): void => {
    if (Math.floor(percent) <= told) return;
    told = Math.floor(percent);
    tell({ type: 'progress', percent: told });
  };
  const deps = { run, onProgress, signal: working.signal, loadHandler, versions };
  const answer = await processFile(deps, task).then(
    async (file): Promise<FromChild> => {
      const leftFiles = (await namesInMemory()) !== (await namesAtStart);
      return { type: 'done', file, rssBytes: process.memoryUsage.rss(), leftFiles };
    },
    (error: unknown) => refusal(error),
  );
  working = null;
  tell(answer);
}

/** Names in the folders of memory that tools may write to, whatever they are told. */
async function namesInMemory(): Promise<string> {
  return process.argv.includes(OWN_MEMORY)
    ? JSON.stringify(await Promise.all(MEMORY.map((path) => readdir(path))))
    : '';
}

function refusal(error: unknown): FromChild {
  if (error instanceof ToolKilled) return { type: 'killed', message: error.message };
  if (!(error instanceof MediaError))
    return { type: 'bug', stack: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  const { code, message, param, cause } = error;
  const rssBytes = process.memoryUsage.rss();
  return {
    type: 'refused',
    code,
    message,
    param,
    cause: cause instanceof Error ? (cause.stack ?? cause.message) : null,
    rssBytes,
  };
}

function tell(message: FromChild, then?: () => void): void {
  if (process.connected) process.send?.(message, () => then?.());
  else then?.();
}

/** Tools die with this process; what they started themselves is reached through their groups. */
function end(): void {
  for (const pid of groups) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The group ended by itself meanwhile.
    }
  }
  process.exit(0);
}
