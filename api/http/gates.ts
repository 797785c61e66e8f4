/**
 * What a request passes before its endpoint sees it, in this order. https and the path come before
 * (the server and its router), the body and its fields after (the endpoint): together they are the order
 * of refusals that the reference page shows.
 */
import { accountRefusal } from '#api/accounts/account-refusal.ts';
import { isAllowed } from '#api/accounts/allow-list.ts';
import type { Caller } from '#api/accounts/find-caller.ts';
import type { ApiDeps } from '#api/api-deps.ts';
import { spendCapRefusal } from '#api/billing/spend-cap.ts';
import type { Endpoint } from '#api/endpoint.ts';
import { MediaError } from '#crds/media-error.ts';

export const API_VERSION = '2026-10-01';

/** What the gates look at, and what they leave for the answer. */
export interface Passage {
  readonly endpoint: Endpoint;
  readonly authorization: string | undefined;
  readonly version: string | undefined;
  /** Of the client, after trusted proxies. */
  readonly address: string;
  /** Set by the key's gate. */
  caller: Caller | null;
  /** `RateLimit-…`, set by the direct gate, refused or not. */
  rateHeaders: Readonly<Record<string, string>>;
  /** Gives back what a gate took; set by the direct gate. */
  release: () => Promise<void>;
}

interface Gate {
  /** One sentence, for readers and for the reference page. */
  readonly refuses: string;
  readonly check: (deps: ApiDeps, passage: Passage) => Promise<void> | void;
}

export const GATES: readonly Gate[] = [
  {
    refuses: 'A missing, malformed, unknown or revoked key (401).',
    check: async (deps, passage) => {
      if (passage.endpoint.lane === 'open') return;
      passage.caller = await deps.findCaller(passage.authorization);
    },
  },
  {
    refuses: 'A live key of an account without payment method, or with an unpaid invoice (402).',
    check: (_deps, { caller }) => {
      if (caller !== null) throwIf(accountRefusal(caller, 'billing'));
    },
  },
  {
    refuses: 'New work once the monthly spend cap is reached (402).',
    check: async (deps, { caller, endpoint }) => {
      if (caller === null || endpoint.lane === 'open' || endpoint.billable !== true) return;
      throwIf(await spendCapRefusal(deps, caller));
    },
  },
  {
    refuses: 'A suspended account (403).',
    check: (_deps, { caller }) => {
      if (caller !== null) throwIf(accountRefusal(caller, 'permission'));
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
    check: (_deps, passage) => refuseVersion(passage),
  },
  {
    refuses: 'A direct request over the concurrency limit, then over the rate limit (429).',
    check: async (deps, passage) => {
      const { caller, endpoint } = passage;
      if (caller === null || endpoint.lane !== 'direct') return;
      const admission = await deps.limits.direct(caller);
      passage.rateHeaders = admission.headers;
      passage.release = admission.release;
      throwIf(admission.refusal);
    },
  },
  {
    refuses: 'Another keyed request over the second rate limit (429).',
    check: async (deps, { caller, endpoint }) => {
      if (caller !== null && endpoint.lane === 'other') await deps.limits.other(caller);
    },
  },
];

/** @throws MediaError of the first gate that refuses. */
export async function passGates(deps: ApiDeps, passage: Passage): Promise<void> {
  for (const gate of GATES) await gate.check(deps, passage);
}

/** The only gate of a signed link. @throws MediaError unsupported_version */
export function refuseVersion({ version }: Pick<Passage, 'version'>): void {
  if (version === undefined || version === API_VERSION) return;
  const message = `There is no version \`${version.slice(0, 40)}\`. The versions are: ${API_VERSION}.`;
  throw new MediaError('unsupported_version', message, { param: 'Svc-Version' });
}

function throwIf(refusal: MediaError | null): void {
  if (refusal !== null) throw refusal;
}
