import { randomBytes } from 'node:crypto';
import { afterAll, inject } from 'vitest';
import { makeDatabase, type Database } from '#api/store/database.ts';
import { makeLog } from '#crds/process/log.ts';
import { TEMPLATE_DATABASE, urlOf } from '#test/support/database-server.ts';

export interface TestDatabase extends Database {
  readonly url: string;
}

/** Creates a migrated, empty database on the run's real PostgreSQL, dropped after the file's tests. */
export async function testDatabase({ migrated = true, maxConnections = 10 } = {}): Promise<TestDatabase> {
  const serverUrl = inject('postgresUrl');
  const log = makeLog('test', 'error');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const server = makeDatabase({ url: serverUrl, log, maxConnections: 1 });
  await server.query(`create database ${name} template ${migrated ? TEMPLATE_DATABASE : 'template0'}`);
  const url = urlOf(serverUrl, name);
  const database = makeDatabase({ url, log, maxConnections });
  afterAll(async () => {
    await database.close();
    await server.query(`drop database ${name} with (force)`);
    await server.close();
  });
  return { ...database, url };
}
