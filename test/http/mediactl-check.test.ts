/** `mediactl check` as the chart's test runs it: against an address, under the name of the base URL. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useService } from '#test/support/use-service.ts';

const { service } = await useService();
const folder = await mkdtemp(join(tmpdir(), 'mediactl-check-'));
const ca = join(folder, 'ca.pem');
const address = `127.0.0.1:${new URL(service.baseUrl).port}`;

describe('mediactl check', () => {
  beforeAll(() => writeFile(ca, service.ca));
  afterAll(() => rm(folder, { recursive: true }));

  it('runs a sample job with a test key of its own, and revokes the key', async () => {
    const { job, status } = await service.mediactl('check', '--address', address, '--ca', ca);
    expect({ job, status }).toEqual({ job: expect.stringMatching(/^job_/), status: 'succeeded' });
    const { data } = await service.mediactl('key', 'list');
    const keys = (data as { name: string; mode: string; revoked_at: string | null }[]).filter(
      ({ name }) => name === 'mediactl check',
    );
    expect(keys.map(({ mode, revoked_at }) => [mode, revoked_at !== null])).toEqual([['test', true]]);
  });

  it('fails when the certificate is of an authority that is not trusted', async () => {
    await expect(service.mediactl('check', '--address', address)).rejects.toThrow(/self-signed|unable to/);
  });
});
