import { z } from 'zod';
import { OPERATIONS } from '#crds/catalogue/formats.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

/** Headers that frame or route the PUT request: only the service sets them. */
const FRAMING_HEADERS =
  /^(host|content-length|transfer-encoding|connection|expect|te|trailer|upgrade|keep-alive|proxy-.*)$/i;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

const outputHeaders = z
  .record(
    z
      .string()
      .min(1)
      .max(LIMITS.outputHeaderName)
      .regex(HEADER_NAME, 'not a header name')
      .refine((name) => !FRAMING_HEADERS.test(name), 'the service sets this header itself'),
    z.string().max(LIMITS.outputHeaderValue).regex(HEADER_VALUE, 'header values are printable ASCII'),
  )
  .refine((headers) => Object.keys(headers).length <= LIMITS.outputHeaders, `at most ${LIMITS.outputHeaders} headers`)
  .refine(
    (headers) => new Set(Object.keys(headers).map((name) => name.toLowerCase())).size === Object.keys(headers).length,
    'header names must be unique, ignoring case',
  );

/** Body of `POST /v1/jobs` (docs/reference/jobs.md#request). */
export const jobRequestSchema = z
  .strictObject({
    operation: z.enum(OPERATIONS).meta({ description: 'What is done with the file.' }),
    input: z
      .strictObject({
        upload: z.string().optional().meta({ description: 'Id of an upload.' }),
        url: z.string().optional().meta({ description: 'Public http or https URL of the file.' }),
      })
      .refine(
        ({ upload, url }) => (upload === undefined) !== (url === undefined),
        'give exactly one of `upload` and `url`',
      )
      .meta({
        description: 'The file: either an upload or a URL.',
        oneOf: [{ required: ['upload'] }, { required: ['url'] }],
      }),
    options: z.looseObject({}).nullish().meta({ description: 'Options in the nested shape.' }),
    preset: z.string().nullish().meta({ description: 'Name or id of a preset.' }),
    webhook_url: z
      .string()
      .nullish()
      .meta({ description: 'Public https URL that receives the event of the finished job.' }),
    output: z
      .strictObject({
        url: z.string().meta({ description: 'Public https URL that accepts a PUT request.' }),
        headers: outputHeaders
          .nullish()
          .meta({ description: `Headers of that request, at most ${LIMITS.outputHeaders}.` }),
      })
      .nullish()
      .meta({ description: 'Your own storage, to which the result is sent.' }),
    retention_seconds: z
      .int()
      .min(LIMITS.retentionSeconds.min)
      .max(LIMITS.retentionSeconds.max)
      .nullish()
      .meta({ description: `Default ${LIMITS.retentionSeconds.default}.` }),
    metadata: z
      .record(atMost(LIMITS.metadataKey, z.string().min(1)), atMost(LIMITS.metadataValue))
      .refine(
        (entries) => Object.keys(entries).length <= LIMITS.metadataEntries,
        `at most ${LIMITS.metadataEntries} entries`,
      )
      .nullish()
      .meta({
        description: `Your own entries, at most ${LIMITS.metadataEntries}; keys to ${LIMITS.metadataKey} characters, values to ${LIMITS.metadataValue}.`,
      }),
  })
  .meta({ id: 'JobRequest' });
export type JobRequest = z.infer<typeof jobRequestSchema>;

/**
 * Returns a schema that counts Unicode code points, as JSON Schema does, not UTF-16 units. Half of a surrogate pair becomes
 * U+FFFD: PostgreSQL's operators for JSON fail on it.
 */
function atMost(characters: number, text: z.ZodString = z.string()): z.ZodString {
  return text
    .refine((sent) => Array.from(sent).length <= characters, `at most ${characters} characters`)
    .overwrite((sent) => sent.toWellFormed())
    .meta({ maxLength: characters });
}
