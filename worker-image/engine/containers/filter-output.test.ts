import { describe, expect, it } from 'vitest';
import { FilterOutput } from '#worker-image/engine/containers/filter-output.ts';

describe('FilterOutput', () => {
  it('returns what was written and reserved, in order and once', () => {
    const output = new FilterOutput();
    output.write(0x61, 3);
    output.reserve(2).write('bc', 'latin1');
    output.write(0x64, 1);
    expect(output.flush().toString('latin1')).toBe('aaabcd');
    expect(output.flush()).toHaveLength(0);
  });

  it('returns bytes that later writes do not change', () => {
    const output = new FilterOutput();
    output.write(1, 2);
    const flushed = output.flush();
    output.write(2, 2);
    expect([...flushed]).toEqual([1, 1]);
  });

  it('has room for the longest write until it is full', () => {
    const output = new FilterOutput();
    while (!output.isFull) output.write(7, 4096);
    expect(output.flush().equals(Buffer.alloc(64 * 1024, 7))).toBe(true);
    expect(output.isFull).toBe(false);
  });
});
