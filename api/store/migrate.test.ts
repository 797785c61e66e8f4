import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { migrate, SchemaTooNew } from '#api/store/migrate.ts';
import { testDatabase } from '#test/support/database.ts';

const clock = { now: () => new Date('2026-10-05T12:00:00.000Z') };
const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

async function folderOf(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'migrations-'));
  folders.push(folder);
  await Promise.all(Object.entries(files).map(([name, sql]) => writeFile(path.join(folder, name), sql)));
  return folder;
}

const ONE = { '0001-one.sql': 'create table one (id int); create index one_id on one (id);' };
const TWO = { '0002-two.sql': 'create table two (id int);' };

describe('migrate', () => {
  it('runs new migrations in order and once', async () => {
    const database = await testDatabase({ migrated: false });
    expect(
      await migrate({ database, clock }, { folder: await folderOf({ ...ONE, 'README.md': 'not one' }) }),
    ).toStrictEqual(['0001-one.sql']);
    const both = await folderOf({ ...ONE, ...TWO });
    expect(await migrate({ database, clock }, { folder: both })).toStrictEqual(['0002-two.sql']);
    expect(await migrate({ database, clock }, { folder: both })).toStrictEqual([]);
    expect((await database.query('select * from schema_migrations order by version')).rows).toStrictEqual([
      { version: 1, name: '0001-one.sql', applied_at: clock.now(), oldest_code: null },
      { version: 2, name: '0002-two.sql', applied_at: clock.now(), oldest_code: null },
    ]);
  });

  it('runs each migration once when several processes start together', async () => {
    const database = await testDatabase({ migrated: false });
    const folder = await folderOf({ ...ONE, ...TWO });
    const ran = await Promise.all(Array.from({ length: 5 }, () => migrate({ database, clock }, { folder })));
    expect(ran.flat().toSorted()).toStrictEqual(['0001-one.sql', '0002-two.sql']);
  });

  it('rolls back a failed migration and keeps the earlier ones', async () => {
    const database = await testDatabase({ migrated: false });
    const folder = await folderOf({ ...ONE, '0002-bad.sql': 'create table half (id int); select 1/0;' });
    await expect(migrate({ database, clock }, { folder })).rejects.toThrow('division by zero');
    const { rows } = await database.query(
      `select to_regclass('one') is not null as one, to_regclass('half') is not null as half`,
    );
    expect(rows).toStrictEqual([{ one: true, half: false }]);
    expect(await migrate({ database, clock }, { folder: await folderOf({ ...ONE, ...TWO }) })).toStrictEqual([
      '0002-two.sql',
    ]);
  });

  it('accepts a newer schema on which this version works, and says so', async () => {
    const database = await testDatabase({ migrated: false });
    await migrate({ database, clock }, { folder: await folderOf({ ...ONE, ...TWO }) });
    const said: unknown[] = [];
    const log = { info: (...about: unknown[]) => said.push(about), warn: (...about: unknown[]) => said.push(about) };
    expect(await migrate({ database, clock, log: log as never }, { folder: await folderOf(ONE) })).toStrictEqual([]);
    expect(said).toStrictEqual([[{ schema: 2, known: 1 }, 'the schema is newer, and this version works on it']]);
  });

  it('rejects a newer schema that needs newer code', async () => {
    const database = await testDatabase({ migrated: false });
    const drop = { '0003-drop.sql': '-- needs code of schema 2\ndrop table one;' };
    await migrate({ database, clock }, { folder: await folderOf({ ...ONE, ...TWO, ...drop }) });
    expect(await migrate({ database, clock }, { folder: await folderOf({ ...ONE, ...TWO }) })).toStrictEqual([]);
    const older = migrate({ database, clock }, { folder: await folderOf(ONE) });
    await expect(older).rejects.toThrow(SchemaTooNew);
    await expect(older).rejects.toThrow('schema version 3, which needs a version of mediajobs that knows 2 at least');
  });

  it('works on the table of migrations of earlier versions', async () => {
    const database = await testDatabase({ migrated: false });
    await database.query(
      'create table schema_migrations (version integer primary key, name text not null, applied_at timestamptz not null)',
    );
    await database.query(`insert into schema_migrations values (1, '0001-one.sql', $1)`, [clock.now()]);
    const folder = await folderOf({ ...ONE, ...TWO });
    expect(await migrate({ database, clock }, { folder })).toStrictEqual(['0002-two.sql']);
  });

  it('lets queries pass while a migration waits for the lock of a table', async () => {
    const database = await testDatabase({ migrated: false });
    await migrate({ database, clock }, { folder: await folderOf(ONE) });
    const alter = { '0002-alter.sql': 'alter table one add column more int;' };
    const folder = await folderOf({ ...ONE, ...alter });
    const warned = Promise.withResolvers<void>();
    const log = { info: () => undefined, warn: () => warned.resolve() };
    const migrated = await database.transaction(async (tx) => {
      await tx.query('select * from one');
      const migrating = migrate({ database, clock, log: log as never }, { folder, lockTimeoutMs: 100 });
      await warned.promise;
      // Behind a migration that waits without a limit, this would wait too.
      expect((await database.query('select * from one')).rows).toStrictEqual([]);
      return { migrating };
    });
    expect(await migrated.migrating).toStrictEqual(['0002-alter.sql']);
  });

  it('creates an index while other transactions write to the table, when the file says so', async () => {
    const database = await testDatabase({ migrated: false });
    await migrate({ database, clock }, { folder: await folderOf(ONE) });
    const sql =
      '-- outside a transaction\ndrop index concurrently if exists quick;\ncreate index concurrently quick on one (id);\n';
    const folder = await folderOf({ ...ONE, '0002-index.sql': sql });
    const ran = await Promise.all(Array.from({ length: 2 }, () => migrate({ database, clock }, { folder })));
    expect(ran.flat()).toStrictEqual(['0002-index.sql']);
    const { rows } = await database.query(`select indisvalid from pg_index where indexrelid = 'quick'::regclass`);
    expect(rows).toStrictEqual([{ indisvalid: true }]);
  });

  it('rejects a gap in the version numbers', async () => {
    const database = await testDatabase({ migrated: false });
    const folder = await folderOf({ ...ONE, '0003-three.sql': 'select 1' });
    await expect(migrate({ database, clock }, { folder })).rejects.toThrow('number 2 is expected');
  });

  it('migrates an empty database to the schema of this version', async () => {
    const database = await testDatabase({ migrated: false });
    expect(await migrate({ database, clock })).toContain('0001-start.sql');
    expect((await database.query('select id from jobs')).rows).toStrictEqual([]);
  });
});
