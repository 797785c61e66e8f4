import { z } from 'zod';
import { jobObjectSchema } from '#api/jobs/job-object.ts';

const envelope = {
  id: z.string().meta({ description: '`evt_…`; the same in every attempt of a delivery.' }),
  created_at: z.iso.datetime(),
  livemode: z.boolean(),
};

/** Event of a job (docs/reference/webhooks.md#events). */
export const jobEventSchema = z
  .object({
    ...envelope,
    type: z.enum(['job.succeeded', 'job.failed', 'job.canceled']),
    data: z.object({ job: jobObjectSchema }),
  })
  .meta({ id: 'JobEvent', description: 'A job has ended.' });

/** Event that `POST /v1/webhook_endpoints/{id}/test` sends. */
export const pingEventSchema = z
  .object({ ...envelope, type: z.literal('ping'), data: z.object({}) })
  .meta({ id: 'PingEvent', description: 'A test of a webhook endpoint.' });
