import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tryIsolation } from '#controller/try-isolation.ts';
import { probeIsolation } from '#worker-image/tools/isolation.ts';

const scriptOf = (specifier: string): string => fileURLToPath(import.meta.resolve(specifier));
const path = process.env['PATH'] ?? '';

describe('tryIsolation', () => {
  it('returns the level that a trial in this process finds', async () => {
    const { level } = await probeIsolation({ setting: 'none' });
    expect(await tryIsolation(scriptOf('#worker-image/print-isolation.ts'), { path })).toBe(level);
  });

  it('rejects when the script fails', async () => {
    await expect(tryIsolation('/nowhere/script.ts', { path })).rejects.toThrow('MODULE_NOT_FOUND');
  });
});
