/**
 * Checks of a request before its endpoint handles it, in order. The server and its router check https and the path
 * before; the endpoint checks the body and its fields after. docs/reference/errors.md#order-of-refusals has them all.
 */
import { accountRefusal } from '#api/accounts/account-refusal.ts';
import { isAllowed } from '#api/accounts/allow-list.ts';
import type { Caller } from '#api/accounts/find-caller.ts';
import type { ApiDeps } from '#api/http/api-deps.ts';
import { spendCapRefusal } from '#api/billing/spend-cap.ts';
import type { Endpoint } from '#api/http/endpoint.ts';
import { API_VERSION } from '#api/interface-version.ts';
import { MediaError, throwIfRefused } from '#crds/contract/media-error.ts';

/** Input of the gates, and the results that the response needs. */
export interface GateContext {
  readonly endpoint: Endpoint;
  readonly authorization: string | undefined;
  readonly version: string | undefined;
  readonly idempotencyKey: string | string[] | undefined;
  /** The client's address, resolved through trusted proxies. */
  readonly address: string;
  /** Caller of an accepted key, set by the gate of the key. */
  caller: Caller | null;
  /** `RateLimit-…` headers, set by the gate of direct requests even when it refuses. */
  rateHeaders: Readonly<Record<string, string>>;
  /** Releases the concurrency slot that the gate of direct requests acquired. */
  release: () => Promise<void>;
}

interface Gate {
  /** What the gate refuses, as a sentence of the reference page. */
  readonly refuses: string;
  readonly check: (deps: ApiDeps, context: GateContext) => Promise<void> | void;
}

export const GATES: readonly Gate[] = [
  {
    refuses: 'A missing, malformed, unknown or revoked key (401).',
    check: async (deps, context) => {
      if (context.endpoint.lane === 'public') return;
      context.caller = await deps.findCaller(context);
    },
  },
  {
    refuses: 'A live key of an account without payment method, or with an unpaid invoice (402).',
    check: (_deps, { caller }) => {
      if (caller !== null) throwIfRefused(accountRefusal(caller, 'billing'));
    },
  },
  {
    refuses: 'New work once the monthly spend cap is reached (402).',
    check: async (deps, { caller, endpoint, idempotencyKey }) => {
      if (caller === null || endpoint.lane === 'public' || endpoint.billable !== true) return;
      const refusal = await spendCapRefusal(deps, caller);
      if (refusal === null || (await endpoint.isRepeated?.(deps, { caller, idempotencyKey })) === true) return;
      throw refusal;
    },
  },
  {
    refuses: 'A suspended account (403).',
    check: (_deps, { caller }) => {
      if (caller !== null) throwIfRefused(accountRefusal(caller, 'permission'));
    },
  },
  {
    refuses: "An address outside the key's allow-list (403).",
    check: (_deps, { caller, address }) => {
      if (caller === null || isAllowed(caller.allowList, address)) return;
      throw new MediaError('ip_not_allowed', `Requests from ${address} are not allowed by this key's allow-list.`);
    },
  },
  {
    refuses: 'A version that does not exist (400).',
    check: (_deps, context) => refuseVersion(context),
  },
  {
    refuses: 'A direct request over the concurrency limit, then over the rate limit (429).',
    check: async (deps, context) => {
      const { caller, endpoint } = context;
      if (caller === null || endpoint.lane !== 'direct') return;
      const admission = await deps.limits.direct(caller);
      context.rateHeaders = admission.headers;
      context.release = admission.release;
      throwIfRefused(admission.refusal);
    },
  },
  {
    refuses: 'Another keyed request over the second rate limit (429).',
    check: async (deps, { caller, endpoint }) => {
      if (caller !== null && endpoint.lane === 'other') await deps.limits.other(caller);
    },
  },
];

/** Runs the gates in order. @throws MediaError of the first gate that refuses. */
export async function passGates(deps: ApiDeps, context: GateContext): Promise<void> {
  for (const gate of GATES) await gate.check(deps, context);
}

/** Refuses a version that does not exist; the only gate of a signed link. @throws MediaError unsupported_version */
export function refuseVersion({ version }: Pick<GateContext, 'version'>): void {
  if (version === undefined || version === API_VERSION) return;
  const message = `There is no version \`${version.slice(0, 40)}\`. The versions are: ${API_VERSION}.`;
  throw new MediaError('unsupported_version', message, { param: 'Svc-Version' });
}
