import { describe, expect, it } from 'vitest';
import { recordWork } from '#api/billing/record-work.ts';
import { selectUsage } from '#api/billing/usage-rows.ts';
import { newId } from '#crds/contract/ids.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const clock = { now: () => new Date('2026-02-03T12:00:00.000Z') };
await database.query('insert into accounts (id, name, created_at) values ($1, $1, $2)', ['acc_7', clock.now()]);
await database.query(
  `insert into ledger select 'req_' || n, 'acc_' || n % 50, true, date '2026-01-01' + n % 300, 'compress', 'image', 'images', 1, 2000, 1000, 400, now()
   from generate_series(1, 20000) n`,
);

describe('selectUsage', () => {
  const range = { accountId: 'acc_7', livemode: true, from: '2026-01-01', to: '2026-01-31' };

  it('sums each day and meter as numbers', async () => {
    const rows = await selectUsage(database, { ...range, to: '2026-01-08' });
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

  it('returns the sums of the ledger after parallel, repeated and rolled-back records', async () => {
    const work = {
      accountId: 'acc_7',
      livemode: true,
      operation: 'compress',
      inputSize: 10,
      result: null,
      completedAt: null,
    } as const;
    const same = newId('request');
    const ids = [...Array.from({ length: 20 }, () => newId('request')), same, same, same];
    await Promise.all(ids.map((id) => database.transaction((tx) => recordWork({ clock }, tx, { ...work, id }))));
    const failing = database.transaction(async (tx) => {
      await recordWork({ clock }, tx, { ...work, id: newId('request') });
      throw new Error('later step failed');
    });
    await expect(failing).rejects.toThrow('later step failed');
    const { rows } = await database.query(
      `select day, meter, count(*) as requests, sum(quantity) as quantity, sum(amount_micro_usd) as "amountMicroUsd",
         sum(input_bytes) as "inputBytes", sum(output_bytes) as "outputBytes"
       from ledger where account_id = 'acc_7' and livemode group by day, meter order by day, meter`,
    );
    const usage = await selectUsage(database, { ...range, to: '2026-12-31' });
    expect(usage).toStrictEqual(rows);
    expect(usage.find(({ meter }) => meter === 'unbilled')).toMatchObject({ day: '2026-02-03', requests: 21 });
  });
});
