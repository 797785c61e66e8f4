/**
 * Slots of running requests, as leases: each lasts `LEASE_MS` and is renewed while its request runs, so that the slots
 * of a killed process become free.
 */
import type { Redis } from 'ioredis';
import type { Clock } from '#crds/process/clock.ts';

export interface Slot {
  /** Name under which slots are counted, such as `direct:acc_…`. */
  readonly name: string;
  /** Unique for the request. */
  readonly lease: string;
}

export interface Slots {
  /** Acquires a slot. Returns false when `limit` slots are in use. */
  acquire(slot: Slot, limit: number): Promise<boolean>;
  /** Extends the lease. Acquires a lost slot again, even above the limit, because its request is still running. */
  renew(slot: Slot): Promise<void>;
  release(slot: Slot): Promise<void>;
}

export const LEASE_MS = 15_000;
export const RENEW_EVERY_MS = 5000;

/** Returns slots shared by all processes: a sorted set per name, scored by expiry. Rejects while Redis is down. */
export function redisSlots({ redis, clock }: { redis: Redis; clock: Clock }): Slots {
  redis.defineCommand('mediajobsAcquireSlot', { numberOfKeys: 1, lua: ACQUIRE });
  redis.defineCommand('mediajobsRenewSlot', { numberOfKeys: 1, lua: RENEW });
  const commands = redis as Redis & SlotCommands;
  const keyOf = (slot: Slot): string => `mediajobs:slots:${slot.name}`;
  const nowMs = (): number => clock.now().getTime();
  return {
    acquire: async (slot, limit) =>
      (await commands.mediajobsAcquireSlot(keyOf(slot), limit, slot.lease, nowMs(), LEASE_MS)) === 1,
    renew: async (slot) => {
      await commands.mediajobsRenewSlot(keyOf(slot), slot.lease, nowMs(), LEASE_MS);
    },
    release: async (slot) => {
      await redis.zrem(keyOf(slot), slot.lease);
    },
  };
}

/** Returns slots of this process only. They need no lease, because they end with the process. */
export function localSlots(): Slots {
  const held = new Map<string, Set<string>>();
  const add = ({ name, lease }: Slot): void => {
    held.set(name, (held.get(name) ?? new Set()).add(lease));
  };
  return {
    acquire: async (slot, limit) => {
      if ((held.get(slot.name)?.size ?? 0) >= limit) return false;
      add(slot);
      return true;
    },
    renew: async (slot) => add(slot),
    release: async ({ name, lease }) => {
      const leases = held.get(name);
      leases?.delete(lease);
      if (leases?.size === 0) held.delete(name);
    },
  };
}

interface SlotCommands {
  mediajobsAcquireSlot(key: string, limit: number, lease: string, nowMs: number, leaseMs: number): Promise<0 | 1>;
  mediajobsRenewSlot(key: string, lease: string, nowMs: number, leaseMs: number): Promise<1>;
}

const ACQUIRE = `
local limit, lease, now, length = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
if redis.call('ZCARD', KEYS[1]) >= limit then return 0 end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + length), lease)
redis.call('PEXPIRE', KEYS[1], 2 * length)
return 1
`;

const RENEW = `
local lease, now, length = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call('ZADD', KEYS[1], string.format('%.0f', now + length), lease)
redis.call('PEXPIRE', KEYS[1], 2 * length)
return 1
`;
