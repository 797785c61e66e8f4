import { z } from 'zod';
import { utcDay, utcMonth } from '#api/billing/calendar.ts';
import { usageObject, usageSchema, type Usage } from '#api/billing/usage.ts';
import { selectUsage } from '#api/billing/usage-rows.ts';
import type { ApiDeps } from '#api/api-deps.ts';
import type { CallerRequest, Endpoint } from '#api/endpoint.ts';
import { parseFields } from '#api/http/json-body.ts';
import { readQuery } from '#api/http/query.ts';
import { MediaError } from '#crds/media-error.ts';
import { LIMITS } from '#crds/plans.ts';

/** ISO 8601 knows a year 0, PostgreSQL does not. */
const day = z.iso
  .date('not a real date of the form YYYY-MM-DD')
  .refine((text) => text >= '0001-01-01', 'not a real date');

const usageQuery = z.strictObject({
  from: day.optional().meta({ description: 'First day, UTC; default: the first day of this month.' }),
  to: day.optional().meta({ description: 'Last day, UTC; default: today.' }),
});

const DAY_MS = 24 * 3600 * 1000;

/** `GET /v1/usage`: of the key's mode. Spec: Usage. */
export const usageEndpoint: Endpoint = {
  method: 'GET',
  path: '/v1/usage',
  summary: 'What was used, by day and meter.',
  lane: 'other',
  query: usageQuery,
  responses: { 200: { description: 'Totals and days with at least one request.', schema: usageSchema } },
  errors: ['bad_request'],
  handle: async (deps, request) => ({ status: 200, body: await usageOf(deps, request) }),
};

/** @throws MediaError bad_request for the days. */
export async function usageOf({ database, clock }: ApiDeps, { caller, query }: CallerRequest): Promise<Usage> {
  const asked = parseFields(usageQuery, Object.fromEntries(readQuery(query)));
  const now = clock.now();
  const range = { from: asked.from ?? utcMonth(now), to: asked.to ?? utcDay(now) };
  refuseRange(range);
  const { livemode, account } = caller;
  const rows = await selectUsage(database, { accountId: account.id, livemode, ...range });
  return usageObject(rows, { livemode, ...range });
}

function refuseRange({ from, to }: { from: string; to: string }): void {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1) {
    const message = `\`from\` is ${from}, after \`to\`, ${to}. A missing \`from\` is the first day of this month, a missing \`to\` today.`;
    throw new MediaError('bad_request', message, { param: 'from' });
  }
  if (days <= LIMITS.usageDays) return;
  const message = `From ${from} to ${to} are ${days} days; one query covers at most ${LIMITS.usageDays}.`;
  throw new MediaError('bad_request', message, { param: 'from' });
}
