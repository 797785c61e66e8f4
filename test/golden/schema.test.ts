import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();

it('all migrations create the schema of schema.sql (vitest -u writes it anew)', async () => {
  const { stdout } = await promisify(execFile)('pg_dump', ['--schema-only', '--no-owner', '--no-privileges', '--dbname', database.url]);
  await expect(withoutNoise(stdout)).toMatchFileSnapshot('./schema.sql');
});

const HEADER = '-- Generated from api/store/migrations by test/golden/schema.test.ts. Do not edit.\n\n';

/** What differs between versions of pg_dump and says nothing about our tables. */
function withoutNoise(dump: string): string {
  const lines = dump.split('\n').filter((line) => !/^(--|SET |SELECT pg_catalog\.set_config|\\(un)?restrict )/.test(line));
  return HEADER + `${lines.join('\n').replaceAll(/\n{3,}/g, '\n\n').trim()}\n`;
}
