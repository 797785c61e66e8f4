import { tmpdir } from 'node:os';
import { makeRunCommand, type RunCommand } from '#worker-image/tools/run-command.ts';

/** What this machine lets us put between a file's decoder and the rest. */
export interface Isolation {
  /** Put before a tool's command line: takes the network away. Empty where the machine does not allow it. */
  readonly tool: readonly string[];
  /** Put before an engine process: no network, and whatever it starts dies with it. */
  readonly child: readonly string[];
  /** One sentence for the log. */
  readonly summary: string;
}

const NETWORK = ['--net'];
const PROCESSES = ['--pid', '--fork', '--kill-child=KILL'];

/**
 * Tries once what works here: as root plain namespaces, else inside a user namespace. In a pod neither
 * is allowed; there the network policy and the end of the container do the same.
 */
export async function probeIsolation(): Promise<Isolation> {
  const run = makeRunCommand();
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user'];
  const [network, processes] = await Promise.all([
    works(run, [...user, ...NETWORK]),
    works(run, [...user, ...NETWORK, ...PROCESSES]),
  ]);
  const tool = network ? ['unshare', ...user, ...NETWORK, '--'] : [];
  return {
    tool,
    child: processes ? ['unshare', ...user, ...NETWORK, ...PROCESSES, '--'] : tool,
    summary: sentence(network, processes),
  };
}

/** True when the prefix gives an engine process a process namespace, so that its whole tree dies with it. */
export function ownsProcesses(isolation: Isolation): boolean {
  return isolation.child.includes('--pid');
}

async function works(run: RunCommand, options: readonly string[]): Promise<boolean> {
  const command = { file: 'unshare', args: [...options, '--', 'true'], directory: tmpdir(), timeoutSeconds: 5 };
  return run({ ...command, signal: new AbortController().signal }).then(
    ({ exitCode }) => exitCode === 0,
    () => false,
  );
}

function sentence(network: boolean, processes: boolean): string {
  if (network && processes) return 'engine processes run without network and in a process namespace of their own';
  if (network) return 'engine processes run without network; their tools are killed by process group';
  return 'the machine allows no namespaces: a network policy must keep engine processes from the network';
}
