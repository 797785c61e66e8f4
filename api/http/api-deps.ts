import type { Caller, KeyedRequest } from '#api/accounts/find-caller.ts';
import type { Dependencies } from '#api/dependencies.ts';
import type { EngineClient } from '#api/direct/engine-client.ts';
import type { ApiMetrics } from '#api/http/metrics.ts';
import type { Limits } from '#api/limits/limits.ts';
import type { ReceiptKeys } from '#api/receipts/receipt-keys.ts';

/** Dependencies of the HTTP endpoints, composed once by `composeApi`. */
export interface ApiDeps extends Dependencies {
  readonly metrics: ApiMetrics;
  readonly engine: EngineClient;
  readonly receiptKeys: ReceiptKeys;
  readonly limits: Limits;
  /** Networks of the proxies whose `X-Forwarded-…` headers count, as CIDRs. */
  readonly trustedProxies: readonly string[];
  /** Returns the caller of a request by its key. @throws MediaError missing_key, invalid_key, revoked_key */
  readonly findCaller: (request: KeyedRequest) => Promise<Caller>;
}
