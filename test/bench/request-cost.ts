/** CPU time of the service's processes for direct requests. */
import { cpuSecondsOf } from '#test/bench/process-cost.ts';
import type { BenchService } from '#test/bench/peers/bench-service.ts';
import { median } from '#test/bench/print-figures.ts';
import type { ProcessRole } from '#test/support/service-processes.ts';

interface Requests {
  readonly callers: number;
  readonly requests: number;
  /** Path and query, such as `/v1/compress?image.resize=false`. */
  readonly path: string;
  readonly bytes: Buffer;
}

/** Processes that take part in a direct request; `postgres` with its backends. */
export const MEASURED_ROLES = ['api', 'engine', 'engine child', 'postgres', 'redis'] as const;
export type MeasuredRole = (typeof MEASURED_ROLES)[number];

export interface RequestCost {
  /** Median time of a request, in milliseconds. */
  readonly p50: number;
  /** Mean CPU time of a request, in milliseconds. */
  readonly cpuMs: Readonly<Record<MeasuredRole, number>>;
}

/** Sends the requests and returns their mean cost, without processes that end meanwhile. @throws Error for a refusal. */
export async function requestCost(
  { api, processes }: Pick<BenchService, 'api' | 'processes'>,
  { callers, requests, path, bytes }: Requests,
): Promise<RequestCost> {
  const before = new Map(processes().map(({ pid }) => [pid, cpuMsOf(pid)]));
  const times: number[] = [];
  let left = requests;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const sentAt = performance.now();
      const { status, bytes: body } = await api('POST', path, { body: bytes });
      if (status !== 200) throw new Error(`the request was refused with ${status}: ${body.toString()}`);
      times.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const cpuMs = Object.fromEntries(MEASURED_ROLES.map((step) => [step, 0])) as Record<MeasuredRole, number>;
  for (const { pid, role } of processes()) {
    const step = measuredRoleOf(role);
    if (step !== null) cpuMs[step] += (cpuMsOf(pid) - (before.get(pid) ?? 0)) / requests;
  }
  return { p50: median(times), cpuMs };
}

function measuredRoleOf(role: ProcessRole): MeasuredRole | null {
  const name = role === 'backend' ? 'postgres' : role;
  return MEASURED_ROLES.find((step) => step === name) ?? null;
}

/** Returns the CPU time of the process, in milliseconds; 0 when it has ended. */
function cpuMsOf(pid: number): number {
  try {
    return cpuSecondsOf(pid) * 1000;
  } catch {
    return 0;
  }
}
