import { describe, expect, it } from 'vitest';
import { bytes, counted, duration, moment, prose, usd } from '#api/dashboard/format-values.ts';

describe('values on pages', () => {
  it.each([
    [null, '–'],
    [0, '0 bytes'],
    [1023, '1,023 bytes'],
    [1024, '1 KB'],
    [1536, '1.5 KB'],
    [26_214_400, '25 MB'],
    [5 * 1024 ** 4, '5 TB'],
    [5000 * 1024 ** 4, '5,000 TB'],
  ])('the size %j is shown as %s', (count, text) => {
    expect(bytes(count)).toBe(text);
  });

  it.each([
    [0, '$0.00'],
    [1234.5, '$1,234.50'],
    [0.002, '$0.002'],
    [0.000001, '$0.000001'],
    [0.1 + 0.2, '$0.30'],
  ])('the amount %d is shown as %s', (amount, text) => {
    expect(usd(amount)).toBe(text);
  });

  it.each([
    [59.4, '59 s'],
    [60, '1 min'],
    [3599, '60 min'],
    [5400, '1.5 h'],
  ])('the duration of %d seconds is shown as %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });

  it('counts have the plural of their noun', () => {
    expect([0, 1, 2000].map((count) => counted(count, 'key'))).toEqual(['0 keys', '1 key', '2,000 keys']);
  });

  it('times are in UTC, and a missing one is a dash', () => {
    expect(moment(new Date('2026-01-02T03:04:05.678Z')).markup).toContain('>2026-01-02 03:04:05 UTC<');
    expect(moment(null).markup).toBe('–');
  });

  it('a message is escaped, and its backticks become code', () => {
    expect(prose('`<b>` is not valid.').markup).toBe('<code>&lt;b&gt;</code> is not valid.');
  });
});
