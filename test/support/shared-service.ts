/** Vitest's global set-up of `test/http`: the whole service, as an operator starts it, for all its files. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { readConnection } from '#api/embedded/connection.ts';
import { runService } from '#api/embedded/run-service.ts';
import { makeReceiverCertificates } from '#test/support/receiver-certificates.ts';

export default function startSharedService(project: TestProject): Promise<() => Promise<void>> {
  return provideService(project, {});
}

/** Starts the service with further settings and returns its stop function. */
export async function provideService(
  project: TestProject,
  further: Readonly<Record<string, string>>,
): Promise<() => Promise<void>> {
  const data = await mkdtemp(path.join(tmpdir(), 'mediajobs-service-'));
  const certificates = makeReceiverCertificates();
  const authority = path.join(data, 'receivers-ca.pem');
  await writeFile(authority, certificates.authority);
  const problems: string[] = [];
  const service = await runService({
    data,
    settings: { MEDIAJOBS_PRIVATE_TARGETS: '127.0.0.0/8', MEDIAJOBS_EXTRA_CA_FILE: authority, ...further },
    onProblem: (line) => problems.push(line),
  }).catch((error: unknown) => {
    throw new Error(`the service did not start:\n${problems.join('\n')}`, { cause: error });
  });
  const connection = readConnection(data);
  if (connection === null) throw new Error('the service serves but wrote no connection file');
  project.provide('receiverCertificates', certificates);
  project.provide('service', {
    baseUrl: service.baseUrl,
    httpUrl: connection.http_url,
    ca: service.ca,
    data,
    databaseUrl: connection.DATABASE_URL,
  });
  return async () => {
    await service.stop();
    await rm(data, { recursive: true, force: true });
  };
}
