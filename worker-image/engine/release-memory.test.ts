import { describe, expect, it } from 'vitest';
import { releaseMemory } from '#worker-image/engine/release-memory.ts';

describe('releaseMemory', () => {
  it('leaves nothing of arrays with memory of their own', () => {
    const [bytes, words] = [Buffer.alloc(1_000_000), new Uint32Array(1000)];
    const before = process.memoryUsage().arrayBuffers;
    releaseMemory(bytes, words);
    expect([bytes.length, words.length]).toEqual([0, 0]);
    expect(before - process.memoryUsage().arrayBuffers).toBeGreaterThanOrEqual(1_000_000);
  });

  it('leaves an array that is a part of another one', () => {
    const whole = Buffer.alloc(100, 7);
    releaseMemory(whole.subarray(10));
    expect(whole).toEqual(Buffer.alloc(100, 7));
  });
});
