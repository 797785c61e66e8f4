import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EngineChild } from '#worker-image/engine/engine-child.ts';
import { startTenantChildren, type TenantChildren } from '#worker-image/engine/tenant-children.ts';

const ISOLATION = { tool: [], child: () => [], ownsProcesses: false, seesOnlyHome: false, summary: 'none' };
const IDLE_MS = 5000;
let directory: string;
let children: TenantChildren;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tenant-children-'));
  children = startTenantChildren({ isolation: ISOLATION, directory, children: 2, filesPerChild: 16 });
});
afterEach(async () => {
  vi.useRealTimers();
  await children.close();
  await rm(directory, { recursive: true, maxRetries: 5 });
});

describe('startTenantChildren', () => {
  it('gives a tenant the process that it had before', () => {
    const first = work('a');
    expect(children.take('a')).toBe(first);
    expect(children.take('a')).not.toBe(first);
  });

  it('never gives a process that opened a file to another tenant, nor to a file without one', () => {
    const first = work('a');
    const others = [children.take('b'), children.take(null)];
    expect(others).not.toContain(first);
    expect(new Set(others).size).toBe(2);
  });

  it.each([
    ['of no tenant', null, true],
    ['that was refused', 'a', false],
  ])('ends the process of a file %s', async (_what, tenant, isGood) => {
    const child = children.take(tenant);
    children.giveBack(child, { tenant, isGood });
    await child.ended;
    expect(children.take(tenant)).not.toBe(child);
  });

  it('keeps one process more than may work, and ends the one that waited longest for it', async () => {
    const both = [children.take('a'), children.take('b')] as const;
    children.giveBack(both[0], { tenant: 'a', isGood: true });
    children.giveBack(both[1], { tenant: 'b', isGood: true });
    expect(await homes()).toBe(3);
    work('c');
    await both[0].ended;
    await expect.poll(homes).toBe(3);
    expect(children.take('b')).toBe(both[1]);
  });

  it('ends a process that nobody comes back for', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const child = work('a');
    vi.advanceTimersByTime(IDLE_MS);
    vi.useRealTimers();
    await child.ended;
    expect(children.take('a')).not.toBe(child);
  });

  it('does not give a process that died while it was idle', async () => {
    const child = work('a');
    process.kill(child.pid, 'SIGKILL');
    await child.ended;
    expect(children.take('a')).not.toBe(child);
  });
});

/** One file of a tenant, as far as it matters here. */
function work(tenant: string): EngineChild {
  const child = children.take(tenant);
  children.giveBack(child, { tenant, isGood: true });
  return child;
}

async function homes(): Promise<number> {
  return (await readdir(directory)).length;
}
