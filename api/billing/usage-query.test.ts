import { describe, expect, it } from 'vitest';
import { readUsageQuery } from '#api/billing/usage-query.ts';

describe('the days of a usage query', () => {
  it.each([
    ['', { from: null, to: null }],
    ['from=2026-02-28', { from: '2026-02-28', to: null }],
    ['from=0001-01-01&to=2026-12-31', { from: '0001-01-01', to: '2026-12-31' }],
  ])('are parsed from "%s"', (query, days) => {
    expect(readUsageQuery(new URLSearchParams(query))).toEqual(days);
  });

  it.each([
    ['from=2026-02-29', 'from'],
    ['to=0000-01-01', 'to'],
    ['to=yesterday', 'to'],
    ['day=2026-01-01', 'day'],
  ])('are refused in "%s"', (query, param) => {
    expect(() => readUsageQuery(new URLSearchParams(query))).toThrow(
      expect.objectContaining({ code: 'bad_request', param }),
    );
  });
});
