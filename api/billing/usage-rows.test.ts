import { describe, expect, it } from 'vitest';
import { selectUsage } from '#api/billing/usage-rows.ts';
import type { Queryable } from '#api/store/database.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
await database.query(
  `insert into ledger select 'req_' || n, 'acc_' || n % 50, true, date '2026-01-01' + n % 300, 'compress', 'image', 'images', 1, 2000, 1000, 400, now()
   from generate_series(1, 20000) n`,
);
await database.query('analyze ledger');

describe('selectUsage', () => {
  const asked = { accountId: 'acc_7', livemode: true, from: '2026-01-01', to: '2026-01-31' };

  it('finds its rows by the index of the ledger', async () => {
    const explaining: Queryable = { query: (text, values) => database.query(`explain ${text}`, values) };
    expect(JSON.stringify(await selectUsage(explaining, asked))).toContain('ledger_usage');
  });

  it('sums each day and meter as numbers', async () => {
    const rows = await selectUsage(database, { ...asked, to: '2026-01-08' });
    expect(rows).toStrictEqual([
      {
        day: '2026-01-08',
        meter: 'images',
        requests: 67,
        quantity: 67,
        amountMicroUsd: 134_000,
        inputBytes: 67_000,
        outputBytes: 26_800,
      },
    ]);
  });
});
