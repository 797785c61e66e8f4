import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readProcessStat } from '#crds/process/process-tree.ts';
import { noise } from '#test/fixtures/noise.ts';
import type { ApiResponse } from '#test/support/api-client.ts';
import { startOwnService } from '#test/crash/own-service.ts';
import { filesBelow } from '#test/support/files-below.ts';
import { processesOf, type ProcessRole } from '#test/support/service-processes.ts';

const service = await startOwnService();
const big = await noise(3000, 2000).jpeg({ quality: 90 }).toBuffer();
const small = await noise(64, 64).png().toBuffer();

/** Sends a file whose encoding takes some seconds. */
const slowRequest = (): Promise<ApiResponse> => service.api()('POST', '/v1/convert?to=avif', { body: big });
const quickRequest = (): Promise<ApiResponse> => service.api()('POST', '/v1/compress', { body: small });

async function untilDecoding(): Promise<void> {
  await expect
    .poll(() => filesBelow(path.join(service.data, 'work')).map((file) => file.split('/').slice(-2).join('/')), {
      timeout: 30_000,
      interval: 20,
    })
    .toContain('in/input.jpg');
}

/** CPU time that an idle engine process does not use within a file, in seconds. */
const BUSY_CPU_SECONDS = 0.2;
const cpuSeconds = (pid: number): number => readProcessStat(pid)?.cpuSeconds ?? 0;

/** Returns the engine process that processes the file: it uses the most CPU time, idle ones wait for a file or a job. */
async function busyChild(): Promise<number> {
  const children = processesOf(service.data).filter((one) => one.role === 'engine child');
  const before = children.map(({ pid }) => cpuSeconds(pid));
  const used = (): number[] => children.map(({ pid }, i) => cpuSeconds(pid) - before[i]!);
  await expect.poll(() => Math.max(...used()), { timeout: 30_000, interval: 20 }).toBeGreaterThan(BUSY_CPU_SECONDS);
  const shares = used();
  return children[shares.indexOf(Math.max(...shares))]!.pid;
}

describe('a running direct request', () => {
  const victims: [ProcessRole, number[]][] = [
    ['engine', [503]],
    ['engine child', [500]],
  ];
  // Promise, Settled where the interface leaves it open: A crash is the fault of the file; a kill by the system is not
  // Promise, Bad input, case by case: Busy, hanging and crashing engines
  // Promise, Direct endpoints: Timeout after 120 seconds, internal, processing_failed after a crash
  it.each(victims)(
    'is answered with an error when the %s is killed, and the next one succeeds',
    async (role, statuses) => {
      const cut = slowRequest();
      await untilDecoding();
      if (role === 'engine') service.kill('engine');
      else process.kill(await busyChild(), 'SIGKILL');
      const response = await cut;
      expect(statuses).toContain(response.status);
      expect(response.json()).toMatchObject({
        error: {
          type: expect.any(String),
          code: expect.any(String),
          message: expect.any(String),
          request_id: response.headers['svc-request-id'],
        },
      });
      await expectServes();
      const rows = await service.query('select meter from ledger where source_id = $1', [
        response.headers['svc-request-id'],
      ]);
      expect(rows.filter((row) => row['meter'] !== 'unbilled')).toEqual([]);
    },
    120_000,
  );

  it('fails when the API is killed and is not billed, and the next one succeeds', async () => {
    const before = await service.query('select source_id from ledger');
    const cut = slowRequest().then(
      () => 'answered',
      () => 'interrupted',
    );
    await untilDecoding();
    service.kill('api');
    expect(await cut).toBe('interrupted');
    expect(await service.query('select source_id from ledger')).toEqual(before);
    await expectServes();
  }, 120_000);
});

/** Until the lost process is back requests may fail, but then only with an error of ours or without a connection. */
async function expectServes(): Promise<void> {
  await expect
    .poll(
      () =>
        quickRequest().then(
          ({ status }) => status,
          () => 0,
        ),
      { timeout: 30_000, interval: 100 },
    )
    .toBe(200);
  await expect.poll(() => filesBelow(path.join(service.data, 'work')), { timeout: 20_000 }).toEqual([]);
}
