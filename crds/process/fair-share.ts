/**
 * Fair order of tenants that share permits: the tenant with the fewest permits is next. Among several, the one with the
 * least recent usage is next. The clock is passed in.
 */
export interface FairShare {
  /** Records that the tenant acquired a permit. */
  acquire(tenant: string): void;
  /** Records that the tenant released a permit, and the seconds that its work used. */
  release(tenant: string, usedSeconds: number): void;
  /** Returns the number of permits that the tenant holds. */
  held(tenant: string): number;
  /** Returns the recent usage of the tenant, in seconds. It halves every `HALF_LIFE_MS`. */
  usedSeconds(tenant: string): number;
  /** Returns the tenant that is next, the first of several equal ones; null for an empty list. */
  next(tenants: Iterable<string>): string | null;
}

export const HALF_LIFE_MS = 60_000;
/** Maximum number of tenants that are remembered without holding a permit. */
const MAX_REMEMBERED = 1000;

interface TenantUsage {
  held: number;
  /** Usage in seconds at the time `atMs`. */
  used: number;
  atMs: number;
}

/** Creates an empty fair share. `nowMs`: monotonic clock. */
export function makeFairShare({ nowMs }: { nowMs: () => number }): FairShare {
  /** Tenants by the time of their last permit, the oldest first. */
  const usages = new Map<string, TenantUsage>();

  const usedBy = ({ used, atMs }: TenantUsage): number => used * 0.5 ** ((nowMs() - atMs) / HALF_LIFE_MS);
  const usedSeconds = (tenant: string): number => {
    const usage = usages.get(tenant);
    return usage === undefined ? 0 : usedBy(usage);
  };
  const held = (tenant: string): number => usages.get(tenant)?.held ?? 0;
  const forgetOldest = (): void => {
    for (const [tenant, usage] of usages) {
      if (usages.size <= MAX_REMEMBERED) return;
      if (usage.held === 0) usages.delete(tenant);
    }
  };
  const isBefore = (one: string, other: string): boolean =>
    held(one) === held(other) ? usedSeconds(one) < usedSeconds(other) : held(one) < held(other);
  return {
    acquire: (tenant) => {
      const usage = usages.get(tenant) ?? { held: 0, used: 0, atMs: nowMs() };
      usage.held += 1;
      usages.delete(tenant);
      usages.set(tenant, usage);
      forgetOldest();
    },
    release: (tenant, seconds) => {
      const usage = usages.get(tenant);
      if (usage === undefined) return;
      usage.used = usedBy(usage) + seconds;
      usage.atMs = nowMs();
      usage.held -= 1;
    },
    held,
    usedSeconds,
    next: (tenants) => {
      let first: string | null = null;
      for (const tenant of tenants) if (first === null || isBefore(tenant, first)) first = tenant;
      return first;
    },
  };
}
