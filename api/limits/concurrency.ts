/**
 * Slots of requests in progress, as leases: each holds for `LEASE_MS` and is renewed while its request
 * runs, so that a process that was killed gives its slots back without a word.
 */
import type { Redis } from 'ioredis';
import type { Clock } from '#crds/shared/clock.ts';

export interface Slot {
  /** Whose slots are counted. */
  readonly name: string;
  /** Unique for the request. */
  readonly lease: string;
}

export interface Slots {
  /** False when `limit` slots are held. */
  acquire(slot: Slot, limit: number): Promise<boolean>;
  /** Holds the slot for another lease; takes it again when it was lost, since its request runs on. */
  renew(slot: Slot): Promise<void>;
  release(slot: Slot): Promise<void>;
}

export const LEASE_MS = 15_000;
export const RENEW_EVERY_MS = 5000;

/** Shared by all processes: a sorted set per name, the leases' ends as scores. Rejects when Redis does not answer. */
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

/** Of this process alone. Needs no lease: what this process holds ends with it. */
export function localSlots(): Slots {
  const held = new Map<string, Set<string>>();
  const take = ({ name, lease }: Slot): void => {
    held.set(name, (held.get(name) ?? new Set()).add(lease));
  };
  return {
    acquire: async (slot, limit) => {
      if ((held.get(slot.name)?.size ?? 0) >= limit) return false;
      take(slot);
      return true;
    },
    renew: async (slot) => take(slot),
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
