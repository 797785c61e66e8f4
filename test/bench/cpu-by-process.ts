/**
 * CPU time of a cluster whose nodes are containers of this machine: processes that live until the end, by name; the pods of
 * jobs together, by their control groups; all else is the rest, which mostly starts containers. A process of the service
 * that is replaced meanwhile counts as a pod of a job until then.
 */
import { globSync, readdirSync, readFileSync } from 'node:fs';

/** CPU seconds by name. */
export type CpuSeconds = ReadonlyMap<string, number>;

interface Process {
  readonly name: string;
  readonly inPod: boolean;
  readonly seconds: number;
}

interface Usage {
  readonly nodes: number;
  readonly pods: number;
  readonly processes: ReadonlyMap<string, Process>;
}

export const ALL = 'all nodes';
const JOB_PODS = 'pods of jobs';
const REST = 'rest (containerd-shim, runc)';
const TICKS_PER_SECOND = 100;
/** Control groups of the nodes and of all their pods, with version 1 and 2 of control groups. */
const NODES = ['/sys/fs/cgroup/cpuacct/docker/*/cpuacct.usage', '/sys/fs/cgroup/system.slice/docker-*.scope/cpu.stat'];
const PODS = NODES.map((path) => path.replace(/[^/]+$/, 'kubelet.slice/kubelet-kubepods.slice/$&'));

/** Starts to measure, and returns a function that returns the CPU seconds since then, by name, the highest first. */
export function startCpuByProcess(): () => CpuSeconds {
  const before = readUsage();
  return () => {
    const after = readUsage();
    const byName = new Map<string, number>();
    let [ofProcesses, inPods] = [0, 0];
    for (const [id, { name, inPod, seconds }] of after.processes) {
      // Processes that are still there have been started meanwhile: those of jobs have ended.
      const used = seconds - (before.processes.get(id)?.seconds ?? 0);
      byName.set(name, (byName.get(name) ?? 0) + used);
      ofProcesses += used;
      if (inPod) inPods += used;
    }
    const [all, ofJobs] = [after.nodes - before.nodes, after.pods - before.pods - inPods];
    byName.set(ALL, all);
    byName.set(JOB_PODS, ofJobs);
    byName.set(REST, all - ofProcesses - ofJobs);
    return new Map([...byName].toSorted(([, a], [, b]) => b - a));
  };
}

function readUsage(): Usage {
  return { nodes: secondsOfGroups(NODES), pods: secondsOfGroups(PODS), processes: readProcesses() };
}

function secondsOfGroups(patterns: readonly string[]): number {
  return globSync(patterns).reduce((sum, file) => {
    const text = readFileSync(file, 'utf8');
    const micros = /^usage_usec (\d+)/m.exec(text)?.[1];
    return sum + (micros === undefined ? Number(text) / 1e9 : Number(micros) / 1e6);
  }, 0);
}

/** Returns the processes in the nodes, by their id and start. */
function readProcesses(): Usage['processes'] {
  const processes = new Map<string, Process>();
  for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const groups = readFileSync(`/proc/${id}/cgroup`, 'utf8');
      if (!groups.includes('docker')) continue;
      const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const [user = 0, system = 0, startedAt] = [11, 12, 19].map((at) => Number(fields[at]));
      const comm = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
      const name = nameOf(comm, readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0'));
      const seconds = (user + system) / TICKS_PER_SECOND;
      processes.set(`${id} ${startedAt}`, { name, inPod: groups.includes('kubepods'), seconds });
    } catch {
      // It has ended.
    }
  }
  return processes;
}

/** Returns the script of a process of Node, otherwise the program. */
function nameOf(comm: string, command: readonly string[]): string {
  const script = command.slice(1).find((argument) => /\.m?[jt]s$/.test(argument));
  return script === undefined ? comm : script.split('/').slice(-2).join('/');
}
