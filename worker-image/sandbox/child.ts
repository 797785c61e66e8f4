/**
 * Process that decodes untrusted files: one file at a time, without secrets, and without network where the machine
 * allows that. It ends with its tools when its owner ends.
 *
 *   starting ─→ idle ⇄ running ─→ (killed, or the owner has ended)
 */
import { readdirSync, renameSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { KINDS, type Kind } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { killGroup } from '#crds/process/process-tree.ts';
import { plainText } from '#crds/process/plain-text.ts';
import { messageLine, readMessageLines } from '#crds/process/message-lines.ts';
import type { FromChild, ToChild } from '#worker-image/sandbox/engine-protocol.ts';
import {
  CHANNEL,
  MESSAGE_BYTES,
  OUTPUT_NAME,
  OWN_MEMORY,
  TEXT_CHARACTERS,
  WARM,
} from '#worker-image/sandbox/engine-protocol.ts';
import { cpuBudgetSeconds } from '#worker-image/sandbox/cpu-budget.ts';
import { isEngineErrorCode } from '#worker-image/sandbox/engine-error-codes.ts';
import type { PreparedTool } from '#worker-image/engine/handler.ts';
import { loadHandler, processFile, type PipelineDeps } from '#worker-image/engine/process-file.ts';
import { isWithoutHevc } from '#worker-image/tools/hevc.ts';
import { makeRunCommand, ToolKilled, type RunCommand } from '#worker-image/tools/run-command.ts';

let currentTask: AbortController | null = null;
/** Tool that was started for the next file, or serves several; null: none. */
let preparing: Promise<PreparedTool | null> | null = null;
const groups = new Set<number>();
/** Time for which a tool waits for its next file, in milliseconds. It takes memory. */
const PREPARED_MS = 10 * 60_000;
let waiting: NodeJS.Timeout | undefined;
const MEMORY_FOLDERS = ['/tmp', '/dev/shm'];
const namesAtStart = namesInMemory();

const channel = process.argv.includes(WARM) ? null : new Socket({ fd: CHANNEL });

const runTool = makeRunCommand({
  onGroup: (pid, alive) => {
    if (alive) groups.add(pid);
    else groups.delete(pid);
  },
});
/** Aborts the task when the system killed a tool, whatever the handler does: the file may not be the cause. */
const run: RunCommand = (command) =>
  runTool(command).catch((error: unknown) => {
    if (error instanceof ToolKilled) currentTask?.abort(error);
    throw error;
  });

if (channel !== null) {
  readMessageLines(channel, {
    maxBytes: MESSAGE_BYTES,
    onLine: (line) => receive(JSON.parse(line) as ToChild),
    onTooLong: end,
  });
  channel.once('close', end);
  channel.on('error', end);
}
process.once('SIGTERM', end);
process.on('uncaughtException', (error) => send(bug(error), () => process.exit(1)));
if (channel === null) await Promise.all(KINDS.map(loadAll));

function receive(message: ToChild): void {
  if (message.type === 'abort') currentTask?.abort(new MediaError('canceled', 'Processing was canceled.'));
  else if (message.type === 'expect')
    preparing = preparing === null ? prepare(message.kind) : replace(preparing, message.kind);
  else void work(message);
}

/**
 * Loads the kind's code, and starts its tool, while the file is received. Ignores a failure: it recurs, and is reported,
 * with the file.
 */
async function prepare(kind: Kind): Promise<PreparedTool | null> {
  try {
    const tool = (await (await loadHandler(kind)).prepare?.({ run: runTool, folder: process.cwd() })) ?? null;
    if (tool !== null) waitForFile();
    return tool;
  } catch {
    return null;
  }
}

/** Keeps the tool for a file of the kind if it serves that, otherwise ends it and prepares another. */
async function replace(prepared: Promise<PreparedTool | null>, kind: Kind): Promise<PreparedTool | null> {
  const tool = await prepared;
  if (tool?.kinds.includes(kind) === true) return tool;
  await tool?.end();
  return prepare(kind);
}

/** Ends the tool when no file comes. */
function waitForFile(): void {
  clearTimeout(waiting);
  waiting = setTimeout(() => void endPrepared(), PREPARED_MS);
}

/** Ends the tool when it cannot serve the next file. */
async function endUsed(): Promise<void> {
  if ((await preparing)?.isReusable() === true) waitForFile();
  else await endPrepared();
}

/** Ends the tool that was started for the file, and removes its files: the next file must not find them. */
async function endPrepared(): Promise<void> {
  await (await preparing)?.end();
  preparing = null;
}

/** Loads all code of a kind, so that the compile cache holds it. */
async function loadAll(kind: Kind): Promise<void> {
  await (await loadHandler(kind)).loadAll?.();
}

async function work({ task, versions }: Extract<ToChild, { type: 'process' }>): Promise<void> {
  currentTask = new AbortController();
  clearTimeout(waiting);
  let lastPercent = 0;
  const onProgress = (percent: number): void => {
    // Nobody reads the progress of a direct request.
    if (task.lane === 'direct' || Math.floor(percent) <= lastPercent) return;
    lastPercent = Math.floor(percent);
    send({ type: 'progress', percent: lastPercent });
  };
  const onFacts: PipelineDeps['onFacts'] = (input, facts) =>
    send({ type: 'budget', cpuSeconds: cpuBudgetSeconds(input, facts) });
  const prepared = await preparing;
  const { signal } = currentTask;
  const withoutHevc = isWithoutHevc();
  const deps = { run, onProgress, onFacts, signal, loadHandler, versions, prepared, withoutHevc };
  const outcome = await processFile(deps, task)
    .then(({ path, report }): FromChild => {
      if (!report.result.kept_original) renameSync(path, join(task.directory, OUTPUT_NAME));
      const mustBeReplaced = namesInMemory() !== namesAtStart || prepared?.hasFailed() === true;
      return { type: 'done', report, rssBytes: process.memoryUsage.rss(), mustBeReplaced };
    })
    .catch(refusal);
  await endUsed();
  currentTask = null;
  send(outcome);
}

/** Returns the names in `/tmp` and `/dev/shm` as JSON; empty when these folders are shared with other processes. */
function namesInMemory(): string {
  return process.argv.includes(OWN_MEMORY) ? JSON.stringify(MEMORY_FOLDERS.map((path) => readdirSync(path))) : '';
}

function refusal(error: unknown): FromChild {
  if (error instanceof ToolKilled)
    return { type: 'killed', message: plainText(error.message, TEXT_CHARACTERS.message) };
  if (!(error instanceof MediaError) || !isEngineErrorCode(error.code)) return bug(error);
  const { code, message, param, cause } = error;
  return {
    type: 'refused',
    code,
    message: plainText(message, TEXT_CHARACTERS.message),
    param: param === null ? null : plainText(param, TEXT_CHARACTERS.param),
    cause: cause instanceof Error ? stackOf(cause) : null,
    rssBytes: process.memoryUsage.rss(),
  };
}

function bug(error: unknown): FromChild {
  return {
    type: 'bug',
    stack: error instanceof Error ? stackOf(error) : String(error).slice(0, TEXT_CHARACTERS.cause),
  };
}

function stackOf(error: Error): string {
  return (error.stack ?? error.message).slice(0, TEXT_CHARACTERS.cause);
}

function send(message: FromChild, then?: () => void): void {
  if (channel?.writable === true) channel.write(messageLine(message), () => then?.());
  else then?.();
}

/** Ends this process and the process groups of its tools. */
function end(): void {
  groups.forEach(killGroup);
  process.exit(0);
}
