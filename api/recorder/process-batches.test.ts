import { describe, expect, it } from 'vitest';
import { processBatches } from '#api/recorder/process-batches.ts';
import { makeDatabase, type Database } from '#api/store/database.ts';
import { makeLog } from '#crds/process/log.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const log = makeLog('test', 'silent');

/** Handles rows in batches of two. Rows named `stuck…` fail, `stale…` are handled and stay. Returns the calls. */
async function handled(names: readonly string[], using: Database = database): Promise<string[]> {
  const calls: string[] = [];
  const left = [...names];
  await processBatches(
    { database: using, log },
    {
      batch: 2,
      select: async (limit) => left.slice(0, limit),
      handle: async (name) => {
        calls.push(name);
        if (name.startsWith('stuck')) throw new Error(`${name} fails`);
        if (!name.startsWith('stale')) left.splice(left.indexOf(name), 1);
      },
      fieldsOf: (name) => ({ name }),
    },
  );
  return calls;
}

describe('processBatches', () => {
  it.each([
    [[]],
    [['a']],
    [['a', 'b', 'c', 'd', 'e']],
    [['stuck1', 'a', 'b', 'c']],
    [['stuck1', 'stuck2', 'stuck3', 'stuck4', 'a', 'stuck5', 'b']],
    [['stale1', 'stale2', 'stale3', 'a', 'stuck1', 'b', 'c']],
    [['stuck1', 'stuck2']],
  ])('handles each of the rows %j once', async (names) => {
    expect(await handled(names)).toEqual(names);
  });

  it('ends with the first error when the database is unavailable', async () => {
    const unavailable = makeDatabase({ url: 'postgresql://127.0.0.1:1/none', log, maxConnections: 1 });
    await expect(handled(['stuck1', 'stuck2'], unavailable)).rejects.toThrow('stuck1 fails');
    await unavailable.close();
  });
});
