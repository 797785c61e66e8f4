import { describe, expect, it } from 'vitest';
import { utcDay, utcMonth } from '#api/billing/calendar.ts';

describe('the billing calendar', () => {
  it.each([
    ['2026-10-31T23:59:59.999Z', '2026-10-31', '2026-10-01'],
    ['2026-11-01T00:00:00.000Z', '2026-11-01', '2026-11-01'],
    ['2026-10-31T23:30:00.000-05:00', '2026-11-01', '2026-11-01'],
    ['2028-02-29T12:00:00.000Z', '2028-02-29', '2028-02-01'],
  ])('puts %s on %s of the month %s', (at, day, month) => {
    expect([utcDay(new Date(at)), utcMonth(new Date(at))]).toStrictEqual([day, month]);
  });
});
