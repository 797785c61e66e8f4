/** Ledger, monthly sums and spend cap against a real database. */
import { describe, expect, it } from 'vitest';
import type { Account } from '#api/accounts/account.ts';
import { lockAccount } from '#api/accounts/account-rows.ts';
import { createAccount } from '#api/accounts/create-account.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { recordWork, type CountedWork } from '#api/billing/record-work.ts';
import { reservationRefusal, spendCapRefusal } from '#api/billing/spend-cap.ts';
import type { Queryable } from '#api/store/database.ts';
import { newId } from '#crds/contract/ids.ts';
import { testDatabase } from '#test/support/database.ts';
import { buildReport } from '#test/support/job-builder.ts';

const database = await testDatabase();
const time = new Date('2026-10-05T12:00:00.000Z');
const deps = { database, clock: { now: () => time } };
const NEXT_MONTH = new Date('2026-11-01T00:00:00.000Z');

const anAccount = (): Promise<Account> =>
  createAccount(
    { ...deps, newId },
    { caller: MEDIACTL, input: { name: 'Acme', plan: 'payg', paymentMethod: true, features: [] } },
  );
const imageResult = buildReport({ input_format: 'png', output_format: 'png' }).result;
const work = (accountId: string, more: Partial<CountedWork> = {}): CountedWork => ({
  id: newId('request'),
  accountId,
  livemode: true,
  operation: 'compress',
  inputSize: 1000,
  result: imageResult,
  completedAt: null,
  ...more,
});
const record = (counted: CountedWork) => database.transaction((tx) => recordWork(deps, tx, counted));
const monthsOf = async (accountId: string) =>
  (
    await database.query(
      'select month, amount_micro_usd as amount, images from monthly_spend where account_id = $1 order by month',
      [accountId],
    )
  ).rows;
const ledgerOf = async (accountId: string) =>
  (
    await database.query<{
      amount: number;
      meter: string;
      quantity: number;
      day: string;
      kind: string;
      input: number;
      output: number;
    }>(
      `select amount_micro_usd as amount, meter, quantity, day, kind, input_bytes as input, output_bytes as output
       from ledger where account_id = $1 order by at, source_id`,
      [accountId],
    )
  ).rows;
const reserve = (on: Queryable, accountId: string, job: { id: string; microUsd: number }) =>
  on.query(
    `insert into jobs (id, account_id, livemode, operation, created_at, input_key, input_stored, options, limits, features,
       retention_seconds, metadata, reserved_micro_usd)
     values ($1, $2, true, 'compress', $3, 'k', true, '{}', '{}', '{}', 3600, '{}', $4)`,
    [job.id, accountId, time, job.microUsd],
  );

describe('recordWork', () => {
  it('counts billed work in the ledger and in the month', async () => {
    const { id } = await anAccount();
    expect(await record(work(id))).toStrictEqual({ billed: true, meter: 'images', quantity: 1, amountMicroUsd: 2000 });
    expect(await ledgerOf(id)).toStrictEqual([
      { amount: 2000, meter: 'images', quantity: 1, day: '2026-10-05', kind: 'image', input: 1000, output: 400 },
    ]);
    expect(await monthsOf(id)).toStrictEqual([{ month: '2026-10-01', amount: 2000, images: 1 }]);
  });

  it.each<[string, Partial<CountedWork>]>([
    ['work with a test key', { livemode: false }],
    ['a kept original', { result: { ...imageResult, kept_original: true } }],
    ['failed work', { result: null }],
  ])('counts %s as unbilled', async (_what, more) => {
    const { id } = await anAccount();
    expect(await record(work(id, more))).toStrictEqual({
      billed: false,
      meter: 'unbilled',
      quantity: 0,
      amountMicroUsd: 0,
    });
    expect(await ledgerOf(id)).toMatchObject([{ amount: 0, meter: 'unbilled', quantity: 0, input: 1000 }]);
    expect(await monthsOf(id)).toStrictEqual([]);
  });

  it.each<[string, Partial<CountedWork>]>([
    ['billed', {}],
    ['unbilled', { result: null }],
  ])('counts the same %s work once, also when it is recorded 5 times in parallel', async (_what, more) => {
    const { id } = await anAccount();
    const same = work(id, more);
    const charges = await Promise.all(Array.from({ length: 5 }, () => record(same)));
    for (const charge of charges) expect(charge).toStrictEqual(charges[0]);
    expect(await ledgerOf(id)).toHaveLength(1);
    expect(await record({ ...same, result: { ...imageResult, kind: 'pdf', pages: 900 } })).toStrictEqual(charges[0]);
  });

  it('keeps fractions of units', async () => {
    const { id } = await anAccount();
    const video = {
      ...imageResult,
      kind: 'video' as const,
      duration_seconds: 61,
      width: 1280,
      height: 720,
      video_codec: 'h265',
    };
    expect(await record(work(id, { result: video }))).toMatchObject({
      meter: 'video_units',
      quantity: 21,
      amountMicroUsd: 21_000,
    });
    const short = { ...video, duration_seconds: 1 };
    expect(await record(work(id, { result: short }))).toMatchObject({ quantity: 10.5, amountMicroUsd: 10_500 });
    expect((await ledgerOf(id)).map((row) => row.quantity).toSorted((a, b) => a - b)).toStrictEqual([10.5, 21]);
  });

  it('prices images by tier exactly when many are recorded in parallel', async () => {
    const { id } = await anAccount();
    await database.query(`insert into monthly_spend values ($1, '2026-10-01', 0, 9990)`, [id]);
    const charges = await Promise.all(Array.from({ length: 25 }, () => record(work(id))));
    expect(charges.filter((charge) => charge.amountMicroUsd === 2000)).toHaveLength(10);
    expect(charges.filter((charge) => charge.amountMicroUsd === 1000)).toHaveLength(15);
    const sum = (await ledgerOf(id)).reduce((total, row) => total + row.amount, 0);
    expect(await monthsOf(id)).toStrictEqual([{ month: '2026-10-01', amount: sum, images: 10_015 }]);
  });

  it('starts a new sum in every UTC month', async () => {
    const { id } = await anAccount();
    await record(work(id, { completedAt: new Date(NEXT_MONTH.getTime() - 1) }));
    await record(work(id, { completedAt: NEXT_MONTH }));
    expect(await monthsOf(id)).toStrictEqual([
      { month: '2026-10-01', amount: 2000, images: 1 },
      { month: '2026-11-01', amount: 2000, images: 1 },
    ]);
  });

  it('counts nothing when its transaction fails', async () => {
    const { id } = await anAccount();
    const failing = database.transaction(async (tx) => {
      await recordWork(deps, tx, work(id));
      throw new Error('later step failed');
    });
    await expect(failing).rejects.toThrow('later step failed');
    expect(await ledgerOf(id)).toStrictEqual([]);
    expect(await monthsOf(id)).toStrictEqual([]);
  });
});

describe('the spend cap', () => {
  const caller = (account: Account, spendCapMicroUsd: number | null) => ({
    livemode: true,
    account: { ...account, spendCapMicroUsd },
  });

  it.each([
    ['below the cap', 1999, null],
    ['at the cap', 2000, 'spend_cap_reached'],
    ['above the cap', 2001, 'spend_cap_reached'],
  ])('compares usage %s', async (_where, spent, code) => {
    const account = await anAccount();
    await database.query(`insert into monthly_spend values ($1, '2026-10-01', $2, 0)`, [account.id, spent]);
    expect((await spendCapRefusal(deps, caller(account, 2000)))?.code ?? null).toBe(code);
  });

  it('is the plan’s unless the account has its own, and refuses all work at 0', async () => {
    const account = await anAccount();
    await database.query(`insert into monthly_spend values ($1, '2026-10-01', 99999999, 0)`, [account.id]);
    expect(await spendCapRefusal(deps, caller(account, null))).toBeNull();
    await database.query('update monthly_spend set amount_micro_usd = 100000000 where account_id = $1', [account.id]);
    const refusal = await spendCapRefusal(deps, caller(account, null));
    expect(refusal?.message).toContain('usage is $100.00');
    expect(await spendCapRefusal(deps, caller(account, 100_000_001))).toBeNull();
    expect((await spendCapRefusal(deps, caller(await anAccount(), 0)))?.code).toBe('spend_cap_reached');
  });

  it('never stops a test key', async () => {
    expect(await spendCapRefusal(deps, { ...caller(await anAccount(), 0), livemode: false })).toBeNull();
  });

  it('resets with the UTC month', async () => {
    const account = await anAccount();
    await record(work(account.id));
    expect(await spendCapRefusal(deps, caller(account, 2000))).not.toBeNull();
    expect(await spendCapRefusal({ database, clock: { now: () => NEXT_MONTH } }, caller(account, 2000))).toBeNull();
  });

  it('counts unfinished live jobs at their reservation', async () => {
    const account = await anAccount();
    await record(work(account.id));
    const id = newId('job');
    await reserve(database, account.id, { id, microUsd: 3000 });
    expect(await spendCapRefusal(deps, caller(account, 5001))).toBeNull();
    const refusal = await spendCapRefusal(deps, caller(account, 5000));
    expect(refusal?.message).toContain(
      "usage is $0.002 and running work may cost up to $0.003; the account's monthly spend cap is $0.005.",
    );
    await database.query(`update jobs set status = 'failed', completed_at = $2, error = '{}' where id = $1`, [
      id,
      time,
    ]);
    expect(await spendCapRefusal(deps, caller(account, 5000))).toBeNull();
  });

  it('admits 3 of 20 parallel jobs when it covers 3', async () => {
    const account = await anAccount();
    const admissions = await Promise.all(
      Array.from({ length: 20 }, () =>
        database.transaction(async (tx) => {
          await lockAccount(tx, account.id);
          const refusal = await reservationRefusal(deps, tx, { caller: caller(account, 3000), reserveMicroUsd: 1000 });
          if (refusal !== null) return false;
          await reserve(tx, account.id, { id: newId('job'), microUsd: 1000 });
          return true;
        }),
      ),
    );
    expect(admissions.filter(Boolean)).toHaveLength(3);
  });
});
