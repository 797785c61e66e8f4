import { describe, expect, it } from 'vitest';
import { canonicalJson } from '#api/receipts/canonical-json.ts';

describe('canonical JSON', () => {
  it('is the same for any order of the members', () => {
    const text = '{"a":{"b":null,"c":true},"d":[{"x":1,"y":2},"é"],"é":0}';
    expect(canonicalJson({ é: 0, d: [{ y: 2, x: 1 }, 'é'], a: { c: true, b: null } })).toBe(text);
    expect(canonicalJson(JSON.parse(text) as object)).toBe(text);
  });

  it('orders names that are whole numbers by their characters (RFC 8785)', () => {
    expect(canonicalJson({ 9: 'nine', 10: 'ten', '!': 'first' })).toBe('{"!":"first","10":"ten","9":"nine"}');
  });

  it('formats numbers as RFC 8785 does', () => {
    expect(canonicalJson([333333333.3333333, 1e30, 4.5, 2e-3, 1e-27])).toBe(
      '[333333333.3333333,1e+30,4.5,0.002,1e-27]',
    );
  });
});
