import { describe, expect, it } from 'vitest';
import { canonicalJson } from '#api/receipts/canonical-json.ts';

describe('canonical JSON', () => {
  it('is the same whatever order the members came in', () => {
    const text = '{"a":{"b":null,"c":true},"d":[{"x":1,"y":2},"é"],"é":0}';
    expect(canonicalJson({ é: 0, d: [{ y: 2, x: 1 }, 'é'], a: { c: true, b: null } })).toBe(text);
    expect(canonicalJson(JSON.parse(text))).toBe(text);
  });
});
