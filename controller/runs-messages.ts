/** Messages between a controller and the process that runs attempts on its machine. Both sides validate them. */
import { z } from 'zod';
import { runOutcomeSchema, runSpecSchema } from '#crds/contract/run-spec.ts';
import { LOST_CAUSES } from '#controller/runs.ts';

/** Maximum size of a request, in bytes: a RunSpec. */
export const REQUEST_BYTES = 1024 ** 2;
/** Maximum size of a reply, in bytes: a list has the outcomes of all open jobs. */
export const REPLY_BYTES = 32 * 1024 ** 2;

const id = z.int().min(1);
const name = z.string().max(300);
const owner = z.object({ name, uid: name });
const attempt = z.int().min(1);

export const requestSchema = z.discriminatedUnion('method', [
  z.object({ id, method: z.literal('reserve'), name, account: name }),
  z.object({ id, method: z.literal('start'), owner, attempt, account: name, spec: runSpecSchema }),
  z.object({ id, method: z.literal('observe'), name }),
  z.object({ id, method: z.literal('list') }),
  z.object({ id, method: z.literal('stop'), name }),
  z.object({ id, method: z.literal('release'), name }),
  z.object({ id, method: z.literal('close') }),
]);
export type RunsRequest = z.infer<typeof requestSchema>;

export const replySchema = z.union([
  z.object({ id, result: z.unknown() }),
  z.object({ id, error: z.string() }),
  /** Notification: a run of the MediaJob changed or released its slot. */
  z.object({ changed: name }),
]);

const startedAt = z.iso.datetime().transform((text) => new Date(text));
const state = z.discriminatedUnion('state', [
  z.object({ state: z.literal('active'), startedAt, isOnReadyNode: z.boolean() }),
  z.object({ state: z.literal('ended'), startedAt, outcome: runOutcomeSchema }),
  z.object({ state: z.literal('lost'), cause: z.enum(LOST_CAUSES), message: z.string().max(10_000) }),
]);

export const resultSchemas = {
  reserve: z.boolean(),
  start: z.enum(['started', 'exists', 'no-capacity']),
  runs: z.array(z.object({ name, owner, attempt, node: name.nullable(), status: state })),
  nothing: z.null(),
};
