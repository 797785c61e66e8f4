import { describe, expect, it } from 'vitest';
import { isKeyText, keyDigest, keyHint, newKeyText } from '#api/accounts/api-key.ts';

describe('an API key', () => {
  it.each(['live', 'test'] as const)('of mode %s consists of its prefix and 32 letters and digits', (mode) => {
    const keyText = newKeyText(mode);
    expect(keyText).toMatch(new RegExp(`^svc_${mode}_[A-Za-z0-9]{32}$`));
    expect(isKeyText(keyText)).toBe(true);
    expect(newKeyText(mode)).not.toBe(keyText);
  });

  it.each([
    ['31 characters', `svc_live_${'a'.repeat(31)}`],
    ['33 characters', `svc_live_${'a'.repeat(33)}`],
    ['another prefix', `svc_prod_${'a'.repeat(32)}`],
    ['a sign', `svc_live_${'a'.repeat(31)}-`],
    ['a line break after it', `svc_live_${'a'.repeat(32)}\n`],
  ])('is not a text with %s', (_what, text) => {
    expect(isKeyText(text)).toBe(false);
  });

  it('is found by a digest that depends on the pepper and on every character', () => {
    const keyText = `svc_live_${'a'.repeat(32)}`;
    const digest = keyDigest('pepper', keyText);
    expect(digest).toHaveLength(32);
    expect(digest).toStrictEqual(keyDigest('pepper', keyText));
    expect(digest).not.toStrictEqual(keyDigest('other', keyText));
    expect(digest).not.toStrictEqual(keyDigest('pepper', keyText.replace('live', 'test')));
  });

  it('has a hint of its prefix and last four characters', () => {
    expect(keyHint(`svc_live_${'a'.repeat(28)}Wxy9`)).toBe('svc_live_…Wxy9');
  });
});
