import { describe, expect, it } from 'vitest';
import { createAccount } from '#api/accounts/create-account.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { forgetReservations } from '#api/billing/direct-reservation-rows.ts';
import { reserveDirect } from '#api/billing/reserve-direct.ts';
import { reservationRefusal, spendCapRefusal, type Spender } from '#api/billing/spend-cap.ts';
import { newId } from '#crds/contract/ids.ts';
import { makeLog } from '#crds/process/log.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
let time = new Date('2026-10-05T12:00:00.000Z');
const deps = { database, clock: { now: () => time }, log: makeLog('test', 'silent') };

async function aCaller(spendCapMicroUsd: number, livemode = true): Promise<Spender> {
  const account = await createAccount(
    { ...deps, newId },
    { caller: MEDIACTL, input: { name: 'Acme', plan: 'payg', paymentMethod: true, features: [] } },
  );
  return { account: { ...account, spendCapMicroUsd }, livemode };
}
const reserve = (caller: Spender, microUsd = 1000) =>
  reserveDirect(deps, { caller, requestId: newId('request'), microUsd });
const rows = async (caller: Spender) =>
  (await database.query('select 1 from direct_reservations where account_id = $1', [caller.account.id])).rows.length;

describe('the reservation of a direct request', () => {
  it('admits 3 of 50 parallel requests when the cap covers 3, and the next one after a release', async () => {
    const caller = await aCaller(3000);
    const admissions = await Promise.allSettled(Array.from({ length: 50 }, () => reserve(caller)));
    const held = admissions.flatMap((admission) => (admission.status === 'fulfilled' ? [admission.value] : []));
    expect(held).toHaveLength(3);
    const refused = admissions.find((admission) => admission.status === 'rejected');
    expect(refused?.reason).toMatchObject({ code: 'spend_cap_reached' });
    expect(String(refused?.reason.message)).toContain('running work may cost up to $0.003');
    await held[0]?.release();
    held[0] = await reserve(caller);
    for (const reservation of held) await reservation.release();
    expect(await rows(caller)).toBe(0);
  });

  it('admits one request below the cap whatever its maximum cost', async () => {
    const caller = await aCaller(1);
    const reservation = await reserve(caller, 500_000);
    await expect(reserve(caller)).rejects.toMatchObject({ code: 'spend_cap_reached' });
    await reservation.release();
    await expect(reserve(await aCaller(0))).rejects.toMatchObject({ code: 'spend_cap_reached' });
  });

  it('ends in the transaction that charges the request, and stays when that fails', async () => {
    const caller = await aCaller(1000);
    const reservation = await reserve(caller);
    await expect(reservation.charge(() => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk');
    expect(await rows(caller)).toBe(1);
    await expect(reservation.charge((tx) => tx.findRow('select 7 as paid'))).resolves.toEqual({ paid: 7 });
    expect(await rows(caller)).toBe(0);
    await reservation.release();
  });

  it('counts against the cap when a job is created', async () => {
    const caller = await aCaller(1000);
    const reservation = await reserve(caller);
    const ofJob = () => database.transaction((tx) => reservationRefusal(deps, tx, { caller, reserveMicroUsd: 1000 }));
    expect((await ofJob())?.code).toBe('spend_cap_reached');
    await reservation.release();
    expect(await ofJob()).toBeNull();
  });

  it('does not exist for a test key', async () => {
    const caller = await aCaller(0, false);
    const reservation = await reserve(caller);
    expect(await rows(caller)).toBe(0);
    await expect(reservation.charge((tx) => tx.findRow('select 7 as paid'))).resolves.toEqual({ paid: 7 });
    await reservation.release();
    expect(await rows(caller)).toBe(0);
  });

  it('no longer counts a minute after its process was killed', async () => {
    const caller = await aCaller(1000);
    // The reservation is never released, and its timer cannot fire within this test.
    await reserve(caller);
    expect(await spendCapRefusal(deps, caller)).not.toBeNull();
    time = new Date(time.getTime() + 60_000);
    expect(await spendCapRefusal(deps, caller)).toBeNull();
    await forgetReservations(database, new Date(time.getTime() + 1));
    expect(await rows(caller)).toBe(0);
  });
});
