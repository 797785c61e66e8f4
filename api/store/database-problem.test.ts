import { describe, expect, it } from 'vitest';
import { databaseProblem } from '#api/store/database-problem.ts';
import { makeDatabase } from '#api/store/database.ts';
import { newestSchema } from '#api/store/migrate.ts';
import { makeLog } from '#crds/process/log.ts';
import { testDatabase } from '#test/support/database.ts';

describe('databaseProblem', () => {
  it('returns null when the schema is that of the code, or newer', async () => {
    const database = await testDatabase();
    expect(await databaseProblem(database)).toBeNull();
    await database.query("insert into schema_migrations values (999, 'later', $1)", [new Date()]);
    expect(await databaseProblem(database)).toBeNull();
  });

  it('names the migration when the schema is older', async () => {
    const newest = await newestSchema();
    const empty = await testDatabase({ migrated: false });
    expect(await databaseProblem(empty)).toContain(`schema version 0 and this version of the service needs ${newest}`);
    const older = await testDatabase();
    await older.query('delete from schema_migrations where version = $1', [newest]);
    expect(await databaseProblem(older)).toContain(`schema version ${newest - 1} `);
  });

  it('names a server that does not answer', async () => {
    const log = makeLog('test', 'error');
    const nowhere = makeDatabase({ url: 'postgresql://nobody@127.0.0.1:9/none', log, maxConnections: 1 });
    expect(await databaseProblem(nowhere)).toMatch(
      /PostgreSQL at DATABASE_URL does not answer \(.*ECONNREFUSED.*check/,
    );
    await nowhere.close();
  });
});
