/** Tests a confinement by a process that attempts what an engine process must not be able to do. */
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type ListenOptions, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PYTHON } from '#worker-image/tools/landlock.ts';
import { makeRunCommand, type ToolResult } from '#worker-image/tools/run-command.ts';
import { hiddenTools, NEEDED_FILES } from '#worker-image/tools/visible-files.ts';

export interface Trial {
  /** Returns the rules that did not hold, as clauses about the process; empty when all did. */
  broken(confinement: {
    readonly prefix: (folder: string) => readonly string[];
    readonly openFilter: () => number | null;
  }): Promise<readonly string[]>;
  /** Returns why the prefix of a command line starts no program; null when it does. */
  start(prefix: readonly string[]): Promise<string | null>;
  /** Removes the secret and closes the ports. */
  close(): Promise<void>;
}

/** Beginning of the clause when the trial itself could not run. */
export const NOT_STARTED = 'it does not start';
const PROGRAM = join(import.meta.dirname, 'isolation-trial.py');
const TRIAL_SECONDS = 20;

/** Creates what the process must not reach: a private file of this user, a TCP port and a unix socket. */
export async function prepareTrial(): Promise<Trial> {
  const folder = mkdtempSync(join(tmpdir(), 'isolation-'));
  const ownFolder = join(folder, 'own');
  const secret = join(folder, 'secret');
  mkdirSync(ownFolder);
  writeFileSync(secret, 'secret', { mode: 0o600 });
  const handle = openSync(folder, 'r');
  const tcp = await listening({ host: '127.0.0.1', port: 0 });
  // By the descriptor, because a socket's address has at most 107 bytes.
  const unix = await listening({ path: `/proc/self/fd/${handle}/socket` });
  const address = tcp.address() as AddressInfo;
  const input = [
    secret,
    join(folder, 'socket'),
    String(address.port),
    String(process.pid),
    process.execPath,
    ...NEEDED_FILES,
  ];
  const wroteOutside = (): string[] =>
    readdirSync(folder).includes('secret.written') ? ['it can write files outside of its folder'] : [];
  return {
    async broken({ prefix, openFilter }) {
      const filter = openFilter();
      try {
        const broken = await runTrial([...prefix(ownFolder), ...PYTHON, PROGRAM, ...input], { ownFolder, filter });
        return [...broken, ...wroteOutside()];
      } finally {
        if (filter !== null) closeSync(filter);
      }
    },
    async start(prefix) {
      try {
        const { exitCode, stderr } = await runInFolder([...prefix, 'true'], { ownFolder, filter: null });
        return exitCode === 0 ? null : notStarted(lastLine(stderr));
      } catch (error) {
        return notStarted(messageOf(error));
      }
    },
    async close() {
      await Promise.all([tcp, unix].map((server) => new Promise((resolve) => server.close(resolve))));
      closeSync(handle);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Starts a server that closes every connection at once: the process only connects. */
async function listening(options: ListenOptions): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  server.listen(options);
  await once(server, 'listening');
  return server;
}

interface TrialFiles {
  readonly ownFolder: string;
  readonly filter: number | null;
}

async function runTrial(command: readonly string[], files: TrialFiles): Promise<readonly string[]> {
  try {
    const { exitCode, stdout, stderr } = await runInFolder(command, files);
    if (exitCode !== 0) return [notStarted(lastLine(stderr))];
    const outside = (await hiddenTools()).map((tool) => `it does not see ${tool}, outside of /usr`);
    return [...(JSON.parse(stdout) as { broken: string[] }).broken, ...outside];
  } catch (error) {
    return [notStarted(messageOf(error))];
  }
}

/** Runs a command in the folder to which it may write. */
async function runInFolder(
  [file = '', ...args]: readonly string[],
  { ownFolder, filter }: TrialFiles,
): Promise<ToolResult> {
  const signal = new AbortController().signal;
  const command = { file, args, directory: ownFolder, signal, timeoutSeconds: TRIAL_SECONDS, inherited: filter };
  return makeRunCommand()(command);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

function notStarted(reason: string): string {
  return `${NOT_STARTED} (${reason})`;
}
