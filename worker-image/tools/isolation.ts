import { tmpdir } from 'node:os';
import { fileWall, toolsFitBehindWall, TRIAL } from '#worker-image/tools/file-wall.ts';
import { makeRunCommand, type RunCommand } from '#worker-image/tools/run-command.ts';

/** What this machine lets us put between a file's decoder and the rest. */
export interface Isolation {
  /** Put before a tool's command line: takes the network away. Empty where the machine does not allow it. */
  readonly tool: readonly string[];
  /** Put before an engine process that is at home in a folder: all the walls that the machine allows. */
  readonly child: (home: string) => readonly string[];
  /** True when an engine process has a process namespace, so that its whole tree dies with it. */
  readonly ownsProcesses: boolean;
  /** True when an engine process sees the files of its home alone, beside the system and its code. */
  readonly seesOnlyHome: boolean;
  /** One sentence for the log. */
  readonly summary: string;
}

const NETWORK = ['--net'];
const PROCESSES = ['--pid', '--fork', '--kill-child=KILL'];

/**
 * Tries once what works here: bubblewrap; without it namespaces, as root plain ones, else inside a user
 * namespace. In a pod none of it is allowed; there the network policy and the end of the container do
 * the same, and a job's pod holds nothing but the job.
 */
export async function probeIsolation(): Promise<Isolation> {
  const run = makeRunCommand();
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user'];
  const prefix = (options: readonly string[]): string[] => ['unshare', ...user, ...options, '--'];
  const [network, processes, files] = await Promise.all([
    works(run, [...prefix(NETWORK), 'true']),
    works(run, [...prefix([...NETWORK, ...PROCESSES]), 'true']),
    wallStands(run, prefix([...NETWORK, ...PROCESSES])),
  ]);
  const tool = network ? prefix(NETWORK) : [];
  const alone = processes ? prefix([...NETWORK, ...PROCESSES]) : tool;
  return {
    tool,
    child: (home) => (files ? [...alone, ...fileWall(home)] : alone),
    ownsProcesses: processes,
    seesOnlyHome: files,
    summary: sentence({ network, processes, files }),
  };
}

async function wallStands(run: RunCommand, alone: readonly string[]): Promise<boolean> {
  return (await toolsFitBehindWall()) && works(run, [...alone, ...fileWall(tmpdir()), ...TRIAL]);
}

async function works(run: RunCommand, [file = '', ...args]: readonly string[]): Promise<boolean> {
  const command = { file, args, directory: tmpdir(), timeoutSeconds: 5 };
  return run({ ...command, signal: new AbortController().signal }).then(
    ({ exitCode }) => exitCode === 0,
    () => false,
  );
}

function sentence({ network, processes, files }: { network: boolean; processes: boolean; files: boolean }): string {
  if (files)
    return 'engine processes run without network, in a process namespace of their own, and see no files but theirs';
  if (network && processes)
    return 'engine processes run without network and in a process namespace of their own; without bubblewrap they can read the files of this user';
  if (network) return 'engine processes run without network; their tools are killed by process group';
  return 'the machine allows no namespaces: a network policy must keep engine processes from the network';
}
