/**
 * Token buckets: a full bucket has `capacity` tokens, refills continuously, and a request takes one token.
 * Levels are integers in thousandths of a token (one token per second is one thousandth per millisecond), so that
 * nothing is rounded. A bucket stores the latest time at which it was used, so a clock that is set back adds no tokens.
 * A bucket that is full again is deleted.
 */
import type { Redis } from 'ioredis';
import type { Clock } from '#crds/process/clock.ts';

export interface BucketRule {
  /** Whole tokens. */
  readonly capacity: number;
  /** Whole tokens per second. */
  readonly refillPerSecond: number;
}

export interface BucketState {
  /** Whether a token was taken; false when there was no whole token. */
  readonly admitted: boolean;
  /** Remaining whole tokens. */
  readonly remaining: number;
  /** Seconds until full; after a refusal, until the next token. Rounded up. */
  readonly resetSeconds: number;
}

export interface TokenBuckets {
  /** Takes a token if there is one. */
  take(name: string, rule: BucketRule): Promise<BucketState>;
  /** Returns the state without taking a token; `admitted` is whether a request would be. */
  peek(name: string, rule: BucketRule): Promise<BucketState>;
}

interface Level {
  readonly thousandths: number;
  readonly atMs: number;
}

const TOKEN = 1000;
/** Time for which a full bucket is kept, in milliseconds, because the clocks of processes differ slightly. */
const SLACK_MS = 5000;

/** Returns buckets shared by all processes. Rejects when Redis is unavailable. */
export function redisTokenBuckets({ redis, clock }: { redis: Redis; clock: Clock }): TokenBuckets {
  redis.defineCommand('mediajobsTakeToken', { numberOfKeys: 1, lua: TAKE });
  const commands = redis as Redis & TakeCommand;
  const run = async (name: string, rule: BucketRule, tokens: 0 | 1): Promise<BucketState> => {
    const nowMs = clock.now().getTime();
    const key = `mediajobs:bucket:${name}`;
    const { capacity, refillPerSecond } = rule;
    const [admitted, thousandths, atMs] = await commands.mediajobsTakeToken(
      key,
      capacity,
      refillPerSecond,
      nowMs,
      tokens,
    );
    return stateOf(rule, { level: { thousandths, atMs }, admitted: admitted === 1, nowMs });
  };
  return { take: (name, rule) => run(name, rule, 1), peek: (name, rule) => run(name, rule, 0) };
}

/** Returns buckets of this process only, for outages of Redis. */
export function localTokenBuckets({ clock }: { clock: Clock }): TokenBuckets {
  const levels = new Map<string, Level & { readonly fullAtMs: number }>();
  const levelOf = (name: string, rule: BucketRule): { nowMs: number; level: Level; admitted: boolean } => {
    const nowMs = clock.now().getTime();
    const level = refilled(rule, levels.get(name), nowMs);
    return { nowMs, level, admitted: level.thousandths >= TOKEN };
  };
  return {
    take: async (name, rule) => {
      const { nowMs, level, admitted } = levelOf(name, rule);
      const after = { ...level, thousandths: level.thousandths - (admitted ? TOKEN : 0) };
      if (admitted) levels.set(name, { ...after, fullAtMs: level.atMs + msUntil(rule, after, rule.capacity * TOKEN) });
      if (levels.size > LOCAL_BUCKETS) deleteFull(levels, nowMs);
      return stateOf(rule, { level: after, admitted, nowMs });
    },
    peek: async (name, rule) => stateOf(rule, levelOf(name, rule)),
  };
}

/** Number of buckets above which the full ones are deleted. */
const LOCAL_BUCKETS = 10_000;

function deleteFull(levels: Map<string, { readonly fullAtMs: number }>, nowMs: number): void {
  for (const [name, { fullAtMs }] of levels) if (fullAtMs + SLACK_MS < nowMs) levels.delete(name);
}

function refilled({ capacity, refillPerSecond }: BucketRule, before: Level | undefined, nowMs: number): Level {
  if (before === undefined) return { thousandths: capacity * TOKEN, atMs: nowMs };
  const passedMs = Math.max(0, nowMs - before.atMs);
  const thousandths = Math.min(capacity * TOKEN, before.thousandths + passedMs * refillPerSecond);
  return { thousandths, atMs: before.atMs + passedMs };
}

function stateOf(rule: BucketRule, found: { level: Level; admitted: boolean; nowMs: number }): BucketState {
  const { level, admitted, nowMs } = found;
  const behindMs = level.atMs - nowMs;
  const waitMs = behindMs + msUntil(rule, level, admitted ? rule.capacity * TOKEN : TOKEN);
  return { admitted, remaining: Math.floor(level.thousandths / TOKEN), resetSeconds: Math.ceil(waitMs / 1000) };
}

function msUntil({ refillPerSecond }: BucketRule, level: Level, thousandths: number): number {
  return Math.max(0, Math.ceil((thousandths - level.thousandths) / refillPerSecond));
}

interface TakeCommand {
  mediajobsTakeToken(
    key: string,
    capacity: number,
    refillPerSecond: number,
    nowMs: number,
    tokens: 0 | 1,
  ): Promise<[admitted: 0 | 1, thousandths: number, atMs: number]>;
}

/** Same arithmetic as `refilled`, atomic on the server. A refusal and a peek write nothing. */
const TAKE = `
local full = tonumber(ARGV[1]) * ${TOKEN}
local refill = tonumber(ARGV[2])
local now = tonumber(ARGV[3])
local cost = tonumber(ARGV[4]) * ${TOKEN}
local known = redis.call('HMGET', KEYS[1], 'thousandths', 'at')
local level, at = full, now
if known[1] then
  at = tonumber(known[2])
  local passed = math.max(0, now - at)
  level = math.min(full, tonumber(known[1]) + passed * refill)
  at = at + passed
end
if level < ${TOKEN} then return {0, level, at} end
if cost > 0 then
  level = level - cost
  redis.call('HSET', KEYS[1], 'thousandths', string.format('%.0f', level), 'at', string.format('%.0f', at))
  redis.call('PEXPIRE', KEYS[1], math.ceil((full - level) / refill) + ${SLACK_MS})
end
return {1, level, at}
`;
