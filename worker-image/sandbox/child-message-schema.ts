/** Schema of the messages of an engine process, which a hostile file may control. */
import { z } from 'zod';
import { PLAIN_TEXT } from '#crds/process/plain-text.ts';
import { untrustedReportSchema } from '#crds/contract/untrusted-report.ts';
import { TEXT_CHARACTERS, type FromChild } from '#worker-image/sandbox/engine-protocol.ts';
import { ENGINE_ERROR_CODES } from '#worker-image/sandbox/engine-error-codes.ts';

const line = (maxCharacters: number): z.ZodString => z.string().max(maxCharacters).regex(PLAIN_TEXT);
/** Maximum CPU budget, in seconds. No file reaches it: 2,000 frames of 100 megapixels have 3 million. */
const MAX_CPU_SECONDS = 10_000_000;
const stack = z.string().max(TEXT_CHARACTERS.cause);
const rssBytes = z.int().min(0);

const fromChildSchema: z.ZodType<FromChild> = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('progress'), percent: z.int().min(1).max(100) }),
  z.strictObject({ type: z.literal('budget'), cpuSeconds: z.int().min(0).max(MAX_CPU_SECONDS) }),
  z.strictObject({ type: z.literal('done'), report: untrustedReportSchema, rssBytes, mustBeReplaced: z.boolean() }),
  z.strictObject({
    type: z.literal('refused'),
    code: z.enum(ENGINE_ERROR_CODES),
    message: line(TEXT_CHARACTERS.message),
    param: line(TEXT_CHARACTERS.param).nullable(),
    cause: stack.nullable(),
    rssBytes,
  }),
  z.strictObject({ type: z.literal('killed'), message: line(TEXT_CHARACTERS.message) }),
  z.strictObject({ type: z.literal('bug'), stack }),
]);

/** Parses a line. Returns null when it is not a valid message. */
export function parseFromChild(line: string): FromChild | null {
  try {
    return fromChildSchema.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}
