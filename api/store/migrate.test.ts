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
      { version: 1, name: '0001-one.sql', applied_at: clock.now() },
      { version: 2, name: '0002-two.sql', applied_at: clock.now() },
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

  it('rejects a database whose schema is newer than the code', async () => {
    const database = await testDatabase({ migrated: false });
    await migrate({ database, clock }, { folder: await folderOf({ ...ONE, ...TWO }) });
    const older = migrate({ database, clock }, { folder: await folderOf(ONE) });
    await expect(older).rejects.toThrow(SchemaTooNew);
    await expect(older).rejects.toThrow('schema version 2, but this version of mediajobs knows 1 at most');
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
