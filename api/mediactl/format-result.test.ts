import { describe, expect, it } from 'vitest';
import { formatResult } from '#api/mediactl/format-result.ts';

const HOSTILE = 'ok\u001b[2J\u009b31m\r\n\u202egpj.exe';

describe('formatResult', () => {
  it('escapes control characters of names in text', () => {
    const list = { list: [{ name: HOSTILE, tags: [HOSTILE] }] };
    const object = { object: { name: HOSTILE }, note: HOSTILE };
    for (const result of [list, object]) {
      const text = formatResult(result, 'text');
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(text).toContain('ok\\u001b[2J\\u009b31m\\u000d\\u000a\\u202egpj.exe');
    }
    expect(formatResult(list, 'text').split('\n')).toHaveLength(3);
  });

  it('escapes control characters in JSON without changing values', () => {
    const json = formatResult({ object: { name: HOSTILE } }, 'json');
    expect(json.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(json)).toEqual({ name: HOSTILE });
  });
});
