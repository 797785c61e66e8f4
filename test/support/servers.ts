/** Vitest's global set-up: one real PostgreSQL and one real Redis for the whole run. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '#api/embedded/postgres.ts';
import { startRedis } from '#api/embedded/redis.ts';
import { TEMPLATE_DATABASE, urlOf } from '#test/support/database-server.ts';
import { makeDatabase } from '#api/store/database.ts';
import { migrate } from '#api/store/migrate.ts';
import { systemClock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
    redisUrl: string;
  }
}

interface Servers {
  readonly postgresUrl: string;
  readonly redisUrl: string;
  readonly stop: () => Promise<void>;
}

/** Holds the servers of the run, which its projects share: each project loads this module anew. */
const run = globalThis as { mediajobsTestServers?: Servers };

export default async function provideServers(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const isFirst = run.mediajobsTestServers === undefined;
  const servers = (run.mediajobsTestServers ??= await startServers());
  project.provide('postgresUrl', servers.postgresUrl);
  project.provide('redisUrl', servers.redisUrl);
  return isFirst ? servers.stop : undefined;
}

async function startServers(): Promise<Servers> {
  const dataFolder = await mkdtemp(path.join(tmpdir(), 'mediajobs-test-'));
  const ignoreLine = (): void => undefined;
  const postgres = await startPostgres({ dataFolder, durable: false, onLine: ignoreLine });
  const redis = await startRedis({ dataFolder, onLine: ignoreLine });
  await makeTemplate(postgres.url);
  // What a test leaves behind goes with the run.
  process.env['TMPDIR'] = path.join(dataFolder, 'tmp');
  await mkdir(process.env['TMPDIR']);
  return {
    postgresUrl: postgres.url,
    redisUrl: redis.url,
    stop: async () => {
      await redis.stop();
      await postgres.stop();
      await rm(dataFolder, { recursive: true, force: true });
    },
  };
}

async function makeTemplate(serverUrl: string): Promise<void> {
  const log = makeLog('test', 'warn');
  const server = makeDatabase({ url: serverUrl, log, maxConnections: 1 });
  await server.query(`create database ${TEMPLATE_DATABASE}`);
  await server.close();
  const template = makeDatabase({ url: urlOf(serverUrl, TEMPLATE_DATABASE), log, maxConnections: 1 });
  await migrate({ database: template, clock: systemClock });
  await template.close();
}
