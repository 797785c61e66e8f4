import { describe, expect, it } from 'vitest';
import { testDatabase } from '#test/support/database.ts';
import { testRedis } from '#test/support/redis.ts';

const first = await testDatabase();
const second = await testDatabase();
const [a, b] = [await testRedis(), await testRedis()];
const unmigrated = await testDatabase({ migrated: false });

describe('testDatabase', () => {
  it('returns migrated databases that do not see each other', async () => {
    await first.query(`insert into accounts (id, name, created_at) values ('acc_a', 'A', $1)`, [new Date(0)]);
    expect((await first.query('select id from accounts')).rows).toHaveLength(1);
    expect((await second.query('select id from accounts')).rows).toHaveLength(0);
  });

  it('returns an empty database on demand', async () => {
    await expect(unmigrated.query('select id from accounts')).rejects.toThrow('accounts');
  });
});

describe('testRedis', () => {
  it('returns databases that do not see each other', async () => {
    await a.redis.set('key', 'value');
    expect(await b.redis.get('key')).toBeNull();
  });
});
