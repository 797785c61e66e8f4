/**
 * Starts the process from which the PDF scripts are forked (`script_server.py`): half of the time of a small PDF is the
 * start of Python with its libraries. Without it each script is a process of its own.
 */
import { join } from 'node:path';
import type { PreparedTool, PrepareDeps } from '#worker-image/engine/handler.ts';
import { startToolServer } from '#worker-image/engine/start-tool-server.ts';

/** Request of one script, as `script_server.py` reads it. */
export interface ScriptRequest {
  readonly script: string;
  readonly args: readonly string[];
  /** Working directory, HOME and TMPDIR of the script. */
  readonly directory: string;
}

const SERVER = join(import.meta.dirname, 'script_server.py');
/** Timeout of a script, in seconds. */
export const SCRIPT_SECONDS = 1800;

/** Starts the server. Its scripts inherit its resource limits. */
export function startScriptServer({ run, folder }: PrepareDeps): PreparedTool {
  const command = { file: 'python3', args: ['-I', SERVER], directory: folder, timeoutSeconds: SCRIPT_SECONDS };
  return startToolServer(run, { command, kinds: ['pdf'] });
}
