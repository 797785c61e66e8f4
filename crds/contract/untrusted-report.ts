/** Worker's report from an untrusted process, which decodes callers' files: known fields only, all of them bounded. */
import { z } from 'zod';
import { workerReportSchema } from '#crds/contract/media-job.ts';
import { engineResultSchema } from '#crds/contract/result.ts';
import { PLAIN_TEXT } from '#crds/process/plain-text.ts';

const MAX_WARNINGS = 10;
const MAX_TOOLS = 64;

const bytes = z.int().min(0);
const pixels = z
  .int()
  .min(0)
  .max(2 ** 31)
  .nullable();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const line = (maxCharacters: number): z.ZodString => z.string().max(maxCharacters).regex(PLAIN_TEXT);

/** Schema of an untrusted report. `findContradiction` checks its values against known facts. */
export const untrustedReportSchema = z.strictObject({
  ...workerReportSchema.shape,
  result: z.strictObject({
    ...engineResultSchema.shape,
    original_size: bytes,
    output_size: bytes,
    width: pixels,
    height: pixels,
    pages: z.int().min(1).nullable(),
    duration_seconds: z.number().min(0).nullable(),
    video_codec: z
      .string()
      .regex(/^[\w.-]{0,64}$/)
      .nullable(),
    warnings: z.array(line(200)).max(MAX_WARNINGS),
  }),
  inputSha256: sha256,
  outputSha256: sha256,
  tools: z
    .record(z.string().regex(/^[A-Za-z0-9][\w.+-]{0,63}$/), line(1000))
    .refine((tools) => Object.keys(tools).length <= MAX_TOOLS),
  image: line(512).optional(),
});
