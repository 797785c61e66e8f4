import { z } from 'zod';
import type { UsageDays } from '#api/billing/read-usage.ts';
import { parseFields } from '#api/fields/parse-fields.ts';
import { readQuery } from '#api/fields/query.ts';

/** ISO 8601 date from year 1: PostgreSQL has no year 0. */
const day = z.iso
  .date('not a real date of the form YYYY-MM-DD')
  .refine((text) => text >= '0001-01-01', 'not a real date');

/** Query parameters of `GET /v1/usage`. */
export const usageQuery = z.strictObject({
  from: day.optional().meta({ description: 'First day, UTC; default: the first day of this month.' }),
  to: day.optional().meta({ description: 'Last day, UTC; default: today.' }),
});

/** Parses the query of `GET /v1/usage`. @throws MediaError bad_request */
export function readUsageQuery(query: URLSearchParams): UsageDays {
  const { from, to } = parseFields(usageQuery, Object.fromEntries(readQuery(query)));
  return { from: from ?? null, to: to ?? null };
}
