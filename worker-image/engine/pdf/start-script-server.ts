/**
 * Starts the process from which the PDF scripts are forked (`script_server.py`): half of the time of a small PDF is the
 * start of Python with its libraries. Without it each script is a process of its own.
 *
 *   loading ─→ idle ⇄ running a script ─→ ended
 */
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { PreparedTool, PrepareDeps } from '#worker-image/engine/handler.ts';
import { refuseKilled, timeLimit, type ToolResult } from '#worker-image/tools/run-command.ts';

/** Request of one script, as `script_server.py` reads it. */
export interface ScriptRequest {
  readonly script: string;
  readonly args: readonly string[];
  /** Working directory, HOME and TMPDIR of the script. */
  readonly directory: string;
}

const PYTHON = 'python3';
const SERVER = join(import.meta.dirname, 'script_server.py');
/** Timeout of a script, in seconds. */
export const SCRIPT_SECONDS = 1800;

/** Starts the server. Its scripts inherit its resource limits. */
export function startScriptServer({ run, folder }: PrepareDeps): PreparedTool {
  const stop = new AbortController();
  const requests = new PassThrough();
  let receive: ((response: ToolResult | null) => void) | null = null;
  let isEnded = false;
  const command = { file: PYTHON, args: ['-I', SERVER], directory: folder, timeoutSeconds: SCRIPT_SECONDS };
  const onLine = (line: string): void => receive?.(JSON.parse(line) as ToolResult);
  const server = run({ ...command, signal: stop.signal, input: requests, onLine });
  const ended = server.then(
    () => null,
    () => null,
  );
  void ended.then(() => {
    isEnded = true;
  });

  async function send(request: string, wanted: AbortSignal): Promise<ToolResult | null> {
    wanted.throwIfAborted();
    if (isEnded) return null;
    const response = new Promise<ToolResult | null>((resolve) => {
      receive = resolve;
    });
    const onAbort = (): void => stop.abort(wanted.reason);
    const timer = setTimeout(() => stop.abort(timeLimit(SCRIPT_SECONDS)), SCRIPT_SECONDS * 1000);
    wanted.addEventListener('abort', onAbort, { once: true });
    requests.write(`${request}\n`);
    try {
      const result = await Promise.race([response, ended]);
      stop.signal.throwIfAborted();
      if (result === null) await server;
      else refuseKilled(result.exitCode, command);
      return result;
    } finally {
      receive = null;
      clearTimeout(timer);
      wanted.removeEventListener('abort', onAbort);
    }
  }

  async function end(): Promise<void> {
    stop.abort(new Error('no file needs the PDF scripts any more'));
    await ended;
  }

  return { file: PYTHON, kinds: ['pdf'], isReusable: true, send, end };
}
