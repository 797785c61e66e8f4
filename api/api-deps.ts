import type { Caller } from '#api/accounts/find-caller.ts';
import type { EngineClient } from '#api/direct/engine-client.ts';
import type { FileStore } from '#api/files/file-store.ts';
import type { ApiMetrics } from '#api/http/metrics.ts';
import type { Limits } from '#api/limits/limits.ts';
import type { ReceiptKeys } from '#api/receipts/receipt-keys.ts';
import type { Samples } from '#api/samples/samples.ts';
import type { Database } from '#api/store/database.ts';
import type { SecretBox } from '#api/store/secret-box.ts';
import type { NewId } from '#crds/ids.ts';
import type { Clock } from '#crds/shared/clock.ts';
import type { Log } from '#crds/shared/log.ts';
import type { RingKey } from '#crds/shared/settings.ts';

/** Everything that the API's endpoints may touch; made once, in the composition root. */
export interface ApiDeps {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly metrics: ApiMetrics;
  readonly database: Database;
  readonly files: FileStore;
  readonly secretBox: SecretBox;
  readonly linkKeys: readonly RingKey[];
  readonly receiptKeys: ReceiptKeys;
  readonly limits: Limits;
  readonly engine: EngineClient;
  readonly samples: Samples;
  readonly baseUrl: string;
  readonly docsUrl: string;
  /** CIDRs. */
  readonly privateTargets: readonly string[];
  readonly trustedProxies: readonly string[];
  /** @throws MediaError missing_key, invalid_key, revoked_key */
  readonly findCaller: (authorization: string | undefined) => Promise<Caller>;
}
