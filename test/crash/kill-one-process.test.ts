import { describe, expect, it } from 'vitest';
import { startOwnService } from '#test/crash/own-service.ts';
import { expectDoneOnce, resumeEncoder, rowOf, startVideoJob, untilEncoding } from '#test/crash/running-job.ts';
import type { ProcessRole } from '#test/support/service-processes.ts';

const service = await startOwnService();

interface Victim {
  readonly role: ProcessRole;
  readonly ofJob: boolean;
  readonly attempts: number;
}

const victims: readonly Victim[] = [
  { role: 'api', ofJob: false, attempts: 1 },
  { role: 'courier', ofJob: false, attempts: 1 },
  { role: 'engine', ofJob: false, attempts: 1 },
  { role: 'redis', ofJob: false, attempts: 1 },
  { role: 'postgres', ofJob: false, attempts: 1 },
  { role: 'control', ofJob: false, attempts: 2 },
  { role: 'runs', ofJob: false, attempts: 2 },
  { role: 'worker', ofJob: true, attempts: 2 },
  { role: 'engine child', ofJob: true, attempts: 2 },
  { role: 'tool', ofJob: true, attempts: 2 },
];

function pidsOf(role: ProcessRole): number[] {
  return service
    .processes()
    .filter((one) => one.role === role)
    .map((one) => one.pid);
}

describe('a running job, when a process is killed,', () => {
  it.each(victims)(
    'ends once and well after the loss of the $role, at attempt $attempts',
    async ({ role, ofJob, attempts }) => {
      const job = await startVideoJob(service);
      await untilEncoding(service, job);
      const pid = service.kill(role, { ofJob });
      if (attempts === 1) {
        await expect.poll(() => pidsOf(role).filter((one) => one !== pid), { timeout: 20_000 }).toHaveLength(1);
        resumeEncoder(service);
      }
      await expectDoneOnce(service, job);
      expect(await rowOf(service, job.id)).toMatchObject({ attempt: attempts });
      expect(service.processes().map((one) => one.pid)).not.toContain(pid);
      if (!ofJob) await expect.poll(() => pidsOf(role)).toHaveLength(1);
    },
    240_000,
  );
});
