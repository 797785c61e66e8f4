/**
 * Starts a tool that serves requests from its standard input, one at a time: it forks a process for each.
 *
 *   starting ─→ idle ⇄ running a request ─→ ended
 */
import { PassThrough } from 'node:stream';
import type { PreparedTool } from '#worker-image/engine/handler.ts';
import {
  refuseKilled,
  timeLimit,
  type Command,
  type RunCommand,
  type ToolResult,
} from '#worker-image/tools/run-command.ts';

export interface ToolServer {
  /** Its time limit is that of each request. */
  readonly command: Omit<Command, 'signal' | 'input' | 'onLine'>;
  readonly kinds: PreparedTool['kinds'];
  /**
   * The tool prints the line `READY` when it can serve and has removed its files; within so many milliseconds after its
   * first request, otherwise it is ended. Absent: it has no files.
   */
  readonly readyWithinMs?: number;
}

const READY = 'ready';
const NOT_READY = new Error('the tool does not become ready');
const MALFORMED = new Error('the tool printed a line that is no response');

/** Starts the tool. It prints a `ToolResult` as a line of JSON for each request. Its processes have its resource limits. */
export function startToolServer(run: RunCommand, { command, kinds, readyWithinMs }: ToolServer): PreparedTool {
  const stop = new AbortController();
  const requests = new PassThrough();
  let receive: ((response: ToolResult | null) => void) | null = null;
  let isReady = readyWithinMs === undefined;
  let isEnded = false;
  let hasFailed = false;
  const onLine = (line: string): void => {
    if (!isReady && line === READY) isReady = true;
    else receive?.(resultOf(line) ?? malformed());
  };
  const malformed = (): null => {
    stop.abort(MALFORMED);
    return null;
  };
  const server = run({ ...command, signal: stop.signal, input: requests, onLine });
  const ended = server.then(
    () => null,
    () => null,
  );
  void ended.then(() => {
    isEnded = true;
    hasFailed ||= !stop.signal.aborted;
  });

  async function send(request: string, wanted: AbortSignal): Promise<ToolResult | null> {
    wanted.throwIfAborted();
    if (isEnded || stop.signal.aborted) return null;
    const response = new Promise<ToolResult | null>((resolve) => {
      receive = resolve;
    });
    const onAbort = (): void => stop.abort(wanted.reason);
    const timers = [
      setTimeout(() => stop.abort(timeLimit(command.timeoutSeconds)), command.timeoutSeconds * 1000),
      ...(isReady ? [] : [setTimeout(() => isReady || stop.abort(NOT_READY), readyWithinMs)]),
    ];
    wanted.addEventListener('abort', onAbort, { once: true });
    requests.write(`${request}\n`);
    try {
      const result = await Promise.race([response, ended]);
      hasFailed ||= result === null;
      if (stop.signal.reason === NOT_READY || stop.signal.reason === MALFORMED) return null;
      stop.signal.throwIfAborted();
      if (result === null) await server;
      else refuseKilled(result.exitCode, command);
      return result;
    } finally {
      receive = null;
      timers.forEach(clearTimeout);
      wanted.removeEventListener('abort', onAbort);
    }
  }

  async function end(): Promise<void> {
    stop.abort(new Error('no file needs the tool any more'));
    await ended;
  }

  const isReusable = (): boolean => isReady && !isEnded;
  return { file: command.file, kinds, isReusable, hasFailed: () => hasFailed, send, end };
}

/** Parses a response; null when it is none. */
function resultOf(line: string): ToolResult | null {
  try {
    return JSON.parse(line) as ToolResult;
  } catch {
    return null;
  }
}
