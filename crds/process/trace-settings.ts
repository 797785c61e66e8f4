/** Settings of traces, one zod field each, as in `settings.ts`. */
import { z } from 'zod';
import { url } from '#crds/process/setting-types.ts';

export const traceSettings = {
  MEDIAJOBS_TRACES_URL: url
    .refine((text) => /^https?:/.test(text), { message: 'must begin with http:// or https://' })
    .optional()
    .meta({
      description:
        'Address to which spans of OpenTelemetry are sent by OTLP over HTTP, such as `http://collector:4318/v1/traces`; default: no traces.',
    }),
  MEDIAJOBS_TRACES_SHARE: z.coerce.number().min(0).max(1).default(1).meta({
    description:
      'Share of the requests without a `traceparent` header that are traced, 0 to 1. The header decides for the others.',
  }),
};
