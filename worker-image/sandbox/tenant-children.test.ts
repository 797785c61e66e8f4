import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeLog } from '#crds/process/log.ts';
import type { SandboxedEngine } from '#worker-image/sandbox/sandboxed-engine.ts';
import { TenantChildren } from '#worker-image/sandbox/tenant-children.ts';
import { NO_ISOLATION } from '#worker-image/tools/isolation.ts';

const IDLE_MS = 5000;
let directory: string;
let children: TenantChildren;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tenant-children-'));
  children = new TenantChildren({
    log: makeLog('test', 'silent'),
    isolation: NO_ISOLATION,
    directory,
    children: 2,
    filesPerChild: 16,
  });
});
afterEach(async () => {
  vi.useRealTimers();
  await children.close();
  await rm(directory, { recursive: true, maxRetries: 5 });
});

describe('TenantChildren', () => {
  it('returns the process that has opened files of the tenant', () => {
    const first = useProcess('a');
    expect(children.acquire('a').engine).toBe(first);
    expect(children.acquire('a').engine).not.toBe(first);
  });

  it('never returns a process that opened a file to another tenant, nor to a file without one', () => {
    const first = useProcess('a');
    const others = [children.acquire('b').engine, children.acquire(null).engine];
    expect(others).not.toContain(first);
    expect(new Set(others).size).toBe(2);
  });

  it.each([
    ['of no tenant', null, true],
    ['that was refused', 'a', false],
  ])('ends the process of a file %s', async (_what, tenant, isGood) => {
    const child = children.acquire(tenant);
    child.release(isGood);
    await child.engine.ended;
    expect(children.acquire(tenant).engine).not.toBe(child.engine);
  });

  it('keeps one process more than may run, and ends the one that is idle longest', async () => {
    const both = [children.acquire('a'), children.acquire('b')] as const;
    for (const child of both) child.release(true);
    expect(await rootDirectories()).toBe(3);
    useProcess('c');
    await both[0].engine.ended;
    await expect.poll(rootDirectories).toBe(3);
    expect(children.acquire('b').engine).toBe(both[1].engine);
  });

  it('ends a process that is idle for 5 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const child = useProcess('a');
    vi.advanceTimersByTime(IDLE_MS);
    vi.useRealTimers();
    await child.ended;
    expect(children.acquire('a').engine).not.toBe(child);
  });

  it('does not return a process that died while it was idle', async () => {
    const child = useProcess('a');
    process.kill(child.pid, 'SIGKILL');
    await child.ended;
    expect(children.acquire('a').engine).not.toBe(child);
  });
});

/** Acquires a process for a file of the tenant and releases it. */
function useProcess(tenant: string): SandboxedEngine {
  const child = children.acquire(tenant);
  child.release(true);
  return child.engine;
}

async function rootDirectories(): Promise<number> {
  return (await readdir(directory)).length;
}
