import type { FileStore } from '#api/files/file-store.ts';
import type { SampleFiles } from '#api/samples/samples.ts';
import type { Database } from '#api/store/database.ts';
import type { SecretBox } from '#api/store/secret-box.ts';
import type { NewId } from '#crds/contract/ids.ts';
import type { Clock } from '#crds/process/clock.ts';
import type { Log } from '#crds/process/log.ts';
import type { RingKey } from '#crds/process/ring-key.ts';
import type { Tracing } from '#crds/process/tracing.ts';

/** Dependencies of the functions behind endpoints; each function selects those that it needs with `Pick`. */
export interface Dependencies {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  /** null: no spans are recorded. */
  readonly tracing: Tracing | null;
  readonly database: Database;
  readonly files: FileStore;
  readonly samples: SampleFiles;
  readonly secretBox: SecretBox;
  readonly linkKeys: readonly RingKey[];
  /** Public URL of the API, without a slash at the end. */
  readonly baseUrl: string;
  /** Public URL of the documentation, without a slash at the end. */
  readonly docsUrl: string;
  /** CIDRs of private networks that callers may name in URLs. */
  readonly privateTargets: readonly string[];
}
