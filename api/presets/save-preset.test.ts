import { describe, expect, it } from 'vitest';
import { presetRequestSchema } from '#api/presets/save-preset.ts';

const isName = (name: string): boolean => presetRequestSchema.safeParse({ name, options: {} }).success;

describe('presetRequestSchema', () => {
  it.each(['a', '0-_', 'x'.repeat(63), 'pre_mlv6iw7qm1ve7szzmz5x'])('accepts the name %s', (name) => {
    expect(isName(name)).toBe(true);
  });

  it.each(['', '-a', '_a', 'A', 'a b', 'a\n', 'x'.repeat(64), 'größe', '\0'])('refuses the name %j', (name) => {
    expect(isName(name)).toBe(false);
  });
});
