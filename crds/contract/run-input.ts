/**
 * Secret part of a RunSpec, for an attempt that runs in a standby: such a pod mounts no Secret, and the controller may
 * read none. The controller requests it from a recorder: POST `RunInputRequest` with the token of the attempt.
 *
 *   200 RunInput · 400 not a request · 401 wrong token · 410 the attempt is not current · 503 repeat later
 */
import { z } from 'zod';

export const RUN_INPUT_PATH = '/run-input';

export const runInputRequestSchema = z.object({
  jobId: z.string(),
  attempt: z.int().min(1),
  /** Nonce of the MediaJob. */
  dispatch: z.string(),
});
export type RunInputRequest = z.infer<typeof runInputRequestSchema>;

export const runInputSchema = z.object({ filename: z.string().nullable(), etag: z.string() });
export type RunInput = z.infer<typeof runInputSchema>;

/** Returns the input of an attempt; null when it is not the job's current one. */
export type DescribeInput = (request: RunInputRequest) => Promise<RunInput | null>;
