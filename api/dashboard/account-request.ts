/** The API's own endpoint functions, called by the dashboard for an account: what they check and do is the same. */
import { Readable } from 'node:stream';
import type { CallerRequest } from '#api/endpoint.ts';
import type { AccountVisit } from '#api/dashboard/route.ts';

interface Asked {
  readonly livemode: boolean;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: URLSearchParams;
  /** The body. */
  readonly json?: object;
}

/** A request as such a function takes it, as if a key of the account had sent it. */
export function accountRequest(
  { id, account, signal }: Pick<AccountVisit, 'id' | 'account' | 'signal'>,
  { livemode, params = {}, query = new URLSearchParams(), json }: Asked,
): CallerRequest {
  const body = Buffer.from(json === undefined ? '' : JSON.stringify(json));
  return {
    id,
    params,
    query,
    headers: {},
    body: Readable.from(body.length === 0 ? [] : [body]),
    contentLength: body.length,
    signal,
    caller: { account, keyId: '', livemode, allowList: [] },
  };
}
