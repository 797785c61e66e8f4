import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { armFaultPoints, faultPoint, type Fault, type FaultPoint } from './fault-point.ts';

const folder = mkdtempSync(join(tmpdir(), 'mediajobs-faults-'));
afterAll(() => rmSync(folder, { recursive: true }));
const arm = (name: FaultPoint, fault: Fault): void => writeFileSync(join(folder, name), fault);

describe('a fault point', () => {
  it('does nothing without the setting, even when its file exists', async () => {
    const warnings: unknown[] = [];
    armFaultPoints({ log: { warn: (fields: unknown) => void warnings.push(fields) } }, undefined);
    arm('before-dispatch', 'fail');
    await faultPoint('before-dispatch');
    expect(existsSync(join(folder, 'before-dispatch'))).toBe(true);
    expect(warnings).toEqual([]);
  });

  it('logs a warning when it is armed and fails once', async () => {
    const warnings: unknown[] = [];
    armFaultPoints({ log: { warn: (fields: unknown) => void warnings.push(fields) } }, folder);
    expect(warnings).toEqual([{ folder }]);
    arm('before-dispatch', 'fail');
    await expect(faultPoint('before-dispatch')).rejects.toThrow('fault point before-dispatch');
    await faultPoint('before-dispatch');
  });

  it('blocks one of several calls until its file is removed', async () => {
    arm('after-dispatch', 'hold');
    let passed = 0;
    const waiting = [1, 2].map(() => faultPoint('after-dispatch').then(() => (passed += 1)));
    await Promise.race(waiting);
    expect(passed).toBe(1);
    rmSync(join(folder, 'after-dispatch.claimed'));
    await Promise.all(waiting);
    expect(passed).toBe(2);
  });
});
