import { describe, expect, it } from 'vitest';
import { mayNamePreset } from '#api/presets/preset.ts';

describe('mayNamePreset', () => {
  it.each(['a', '0-_', 'x'.repeat(63), 'pre_mlv6iw7qm1ve7szzmz5x'])('accepts %s', (text) => {
    expect(mayNamePreset(text)).toBe(true);
  });

  it.each(['', '-a', '_a', 'A', 'a b', 'a\n', 'x'.repeat(64), 'größe', '\0'])('refuses %j', (text) => {
    expect(mayNamePreset(text)).toBe(false);
  });
});
