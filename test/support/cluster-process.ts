import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { freePorts } from '#api/embedded/free-ports.ts';

export interface ClusterProcess {
  readonly child: ChildProcess;
  readonly opsUrl: string;
  /** URL of a controller's heartbeat port. */
  readonly heartbeatUrl: string;
  /** Returns its log. */
  logged(): string;
  /** Ends it with that signal; resolves with the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Key of every controller and recorder of a run: a token is valid in all of them. */
export const HEARTBEAT_KEY = randomBytes(32).toString('base64');

/** Starts `controller/main.ts` or `api/recorder.ts` as it runs in a pod, but with a kubeconfig. */
export async function startClusterProcess(
  entry: 'controller/main.ts' | 'api/recorder.ts',
  { kubeconfig, environment = {} }: { kubeconfig: string; environment?: Readonly<Record<string, string>> },
): Promise<ClusterProcess> {
  const [ops, heartbeat] = (await freePorts(2)) as [number, number];
  const script = fileURLToPath(new URL(`../../${entry}`, import.meta.url));
  const own = {
    MEDIAJOBS_WORKER_POD: JSON.stringify({ image: 'worker' }),
    MEDIAJOBS_HEARTBEAT_URL: `http://127.0.0.1:${heartbeat}/heartbeat`,
    MEDIAJOBS_HEARTBEAT_PORT: String(heartbeat),
    MEDIAJOBS_TRANSFER_URL: 'http://127.0.0.1:1/transfer',
  };
  const child = spawn(process.execPath, ['--max-semi-space-size=2', script], {
    env: {
      PATH: process.env['PATH'],
      KUBECONFIG: kubeconfig,
      MEDIAJOBS_OPS_PORT: String(ops),
      MEDIAJOBS_HEARTBEAT_KEY: HEARTBEAT_KEY,
      ...(entry === 'controller/main.ts' ? own : { MEDIAJOBS_TRANSFER_PORT: String(heartbeat) }),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  return {
    child,
    opsUrl: `http://127.0.0.1:${ops}`,
    heartbeatUrl: own.MEDIAJOBS_HEARTBEAT_URL,
    logged: () => log,
    end: (signal = 'SIGTERM') => endOf(child, signal),
  };
}

function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve(child.exitCode);
    child.once('exit', (code) => resolve(code));
    child.kill(signal);
  });
}
