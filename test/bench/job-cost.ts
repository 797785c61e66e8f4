/** CPU time of the service's processes for small jobs. */
import type { BenchService } from '#test/bench/peers/bench-service.ts';
import { runBenchJob } from '#test/bench/peers/bench-job.ts';
import { cpuOfEach } from '#test/bench/peers/process-cpu.ts';
import type { ProcessRole } from '#test/support/service-processes.ts';

/** Steps of a job, by the roles of processes; `attempt` is all that works for one job and ends with it. */
const STEPS = {
  api: ['api'],
  control: ['control', 'runs'],
  attempt: ['worker', 'engine child', 'wrapper', 'tool'],
  postgres: ['postgres', 'backend'],
} as const satisfies Record<string, readonly ProcessRole[]>;

export type JobStep = keyof typeof STEPS;
export const JOB_STEPS = Object.keys(STEPS) as readonly JobStep[];

const JOB = {
  bytes: Buffer.from('id,name\n0010,Ada\n0011,Grace\n'),
  filename: 'people.csv',
  operation: 'convert',
  options: { convert: { to: 'json' } },
} as const;

/** Runs small jobs one after the other, upload and download included, and returns their mean CPU time in milliseconds. */
export async function jobCost(service: BenchService, jobs: number): Promise<Readonly<Record<JobStep, number>>> {
  const found = await cpuOfEach(service.processes, async () => {
    for (let at = 0; at < jobs; at += 1) await runBenchJob(service, JOB);
  });
  const costOf = (roles: readonly ProcessRole[]): number =>
    found.filter(({ process }) => roles.includes(process.role)).reduce((sum, { seconds }) => sum + seconds, 0);
  return Object.fromEntries(JOB_STEPS.map((step) => [step, (1000 * costOf(STEPS[step])) / jobs])) as Record<
    JobStep,
    number
  >;
}
