import { describe, expect, it } from 'vitest';
import { paletteErrorLimit } from '#worker-image/engine/image/encode/encode-png.ts';

describe('paletteErrorLimit', () => {
  it('limits the error of a palette more strictly at higher quality', () => {
    expect(paletteErrorLimit(90)).toBeLessThan(paletteErrorLimit(75));
    expect(paletteErrorLimit(75)).toBeLessThan(paletteErrorLimit(30));
    expect(paletteErrorLimit(99)).toBeGreaterThan(0);
  });
});
