import { beforeEach, describe, expect, it } from 'vitest';
import { networkOf } from '#api/users/network.ts';
import {
  reauthenticationCounts,
  codeCounts,
  countTry,
  forgetTry,
  pairWaitMs,
  signInCounts,
} from '#api/users/throttle.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
let now = new Date('2026-11-01T00:00:00Z');
const deps = { database, clock: { now: () => now } };
const later = (minutes: number): void => void (now = new Date(now.getTime() + minutes * 60_000));
const EMAIL = 'ada@example.com';
const attempt = (address: string, email = EMAIL) => countTry(deps, signInCounts({ email, address }));
const wrong = async (address: string, times: number, email = EMAIL): Promise<void> => {
  for (let tries = 0; tries < times; tries += 1) await attempt(address, email);
};
const blocked = 'Too many failed attempts from your network';

beforeEach(async () => {
  await database.query('delete from sign_in_failures');
});

describe('attempts to sign in', () => {
  it('from one network are free five times and then wait longer after each failure', async () => {
    await wrong('192.0.2.1', 5);
    await expect(attempt('192.0.2.1')).rejects.toThrow('Wait 15 minutes');
    later(15);
    await attempt('192.0.2.1');
    await expect(attempt('192.0.2.1')).rejects.toThrow('Wait 30 minutes');
    later(29);
    await expect(attempt('192.0.2.1')).rejects.toThrow('Wait 1 minute,');
    expect([0, 1, 2, 6, 7, 50].map((beyond) => pairWaitMs(beyond) / 60_000)).toEqual([15, 30, 60, 960, 1440, 1440]);
  });

  it('from a blocked network never block other networks', async () => {
    await wrong('192.0.2.1', 5);
    for (let tries = 0; tries < 60; tries += 1) await expect(attempt('192.0.2.1')).rejects.toThrow(blocked);
    const { rows } = await database.query('select from sign_in_failures');
    expect(rows).toHaveLength(15);
    await wrong('198.51.100.7', 5);
  });

  it('from many networks leave each new network a single free attempt', async () => {
    for (let network = 0; network < 10; network += 1) await wrong(`203.0.113.${network}`, 5);
    for (let network = 0; network < 40; network += 1) {
      await attempt(`198.51.100.${network}`);
      await expect(attempt(`198.51.100.${network}`)).rejects.toThrow(blocked);
    }
    const right = await attempt('192.0.2.50');
    await forgetTry(deps, right, { wholePair: true });
    await attempt('192.0.2.50');
    expect(await attempt('192.0.2.51', 'somebody-else@example.com')).toBeDefined();
  });

  it('at many logins from one network are blocked after a hundred', async () => {
    for (let login = 0; login < 100; login += 1) await attempt('192.0.2.1', `person-${login}@example.com`);
    await expect(attempt('192.0.2.1', 'next@example.com')).rejects.toThrow(blocked);
    await attempt('192.0.2.2', 'next@example.com');
    later(15);
    await attempt('192.0.2.1', 'next@example.com');
  });

  it('in parallel are limited as sequential ones', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => attempt('192.0.2.1')));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  });

  it('with the right password clear the failures of the pair unless several logins share the address', async () => {
    await wrong('192.0.2.1', 4);
    await forgetTry(deps, await attempt('192.0.2.1'), { wholePair: false });
    await attempt('192.0.2.1');
    await expect(attempt('192.0.2.1')).rejects.toThrow(blocked);
    await database.query('delete from sign_in_failures');
    await wrong('192.0.2.1', 4);
    await forgetTry(deps, await attempt('192.0.2.1'), { wholePair: true });
    await wrong('192.0.2.1', 5);
  });
});

describe('codes of the second step', () => {
  it('are limited to five from one network and thirty from all networks in 15 minutes', async () => {
    const code = (address: string, userId = 'usr_1') => countTry(deps, codeCounts({ userId, address }));
    for (let network = 0; network < 6; network += 1) {
      for (let tries = 0; tries < 5; tries += 1) await code(`192.0.2.${network}`);
      await expect(code(`192.0.2.${network}`)).rejects.toThrow(blocked);
    }
    await expect(code('192.0.2.99')).rejects.toThrow(blocked);
    await code('192.0.2.99', 'usr_2');
    later(15);
    await code('192.0.2.99');
  });
});

describe('the password that confirms an action', () => {
  it('is limited to five attempts per session', async () => {
    const again = (session: string) => countTry(deps, reauthenticationCounts(Buffer.from(session)));
    for (let tries = 0; tries < 5; tries += 1) await again('stolen');
    await expect(again('stolen')).rejects.toThrow(blocked);
    await again('own');
  });
});

describe('a network', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['unix', 'unix'],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
