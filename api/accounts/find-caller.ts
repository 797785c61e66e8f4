/**
 * Who sends a request: the key in its `Authorization` header and the key's account. Both are read from
 * the database at every request (one look-up), so a revocation or a suspension holds on every
 * server from the next request on. Spec: Authentication.
 */
import type { Account } from '#api/accounts/account.ts';
import { isKeyText, keyDigest, type Peppers } from '#api/accounts/api-key.ts';
import { selectCaller, setDigest, setExposed, setLastUsed, type CallerKey } from '#api/accounts/key-rows.ts';
import type { Queryable } from '#api/store/database.ts';
import { MediaError } from '#crds/media-error.ts';
import type { Clock } from '#crds/shared/clock.ts';
import type { Log } from '#crds/shared/log.ts';

export interface Caller {
  readonly account: Account;
  readonly keyId: string;
  readonly livemode: boolean;
  /** Canonical addresses and CIDRs; empty: any address. */
  readonly allowList: readonly string[];
}

interface FindCallerDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  readonly peppers: Peppers;
}

const NOTED_EVERY_MS = 60_000;

/** @throws MediaError missing_key, invalid_key or revoked_key. Takes the `Authorization` header's value. */
export async function findCaller(deps: FindCallerDeps, authorization: string | undefined): Promise<Caller> {
  const keyText = bearerToken(authorization);
  if (keyText === null) {
    throw new MediaError(
      'missing_key',
      'No API key was sent. Send it in the header `Authorization: Bearer <API_KEY>`.',
    );
  }
  const found = isKeyText(keyText) ? await findKey(deps, keyText) : null;
  if (found === null) {
    throw new MediaError(
      'invalid_key',
      'The API key is not valid. A key is `svc_live_` or `svc_test_` followed by 32 letters and digits; check that it was copied whole.',
    );
  }
  const { account, key } = found;
  if (key.revokedAt !== null) {
    throw new MediaError(
      'revoked_key',
      `The API key was revoked at ${key.revokedAt.toISOString()}. Use another key of the account.`,
    );
  }
  noteUse(deps, key);
  return { account, keyId: key.id, livemode: key.livemode, allowList: key.allowList };
}

/** Notes on the key, if the header holds one, that it came over plain http. Spec: https_required. */
export async function noteExposedKey(
  deps: Pick<FindCallerDeps, 'database' | 'clock' | 'peppers'>,
  authorization: string | undefined,
): Promise<void> {
  const keyText = bearerToken(authorization);
  if (keyText === null || !isKeyText(keyText)) return;
  await setExposed(deps.database, digestsOf(deps.peppers, keyText), deps.clock.now());
}

/** A key that is stored under an earlier pepper is stored anew, so that the pepper can be given up one day. */
async function findKey(
  { database, peppers }: FindCallerDeps,
  keyText: string,
): Promise<{ account: Account; key: CallerKey } | null> {
  const found = await selectCaller(database, digestsOf(peppers, keyText));
  const digest = keyDigest(peppers[0], keyText);
  if (found !== null && !found.key.digest.equals(digest)) await setDigest(database, found.key.id, digest);
  return found;
}

function digestsOf(peppers: Peppers, keyText: string): Buffer[] {
  return peppers.map((pepper) => keyDigest(pepper, keyText));
}

/** RFC 9110 11.1: the scheme's case does not matter. */
function bearerToken(authorization: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null;
}

/** At most once a minute and key, and not awaited: a request never waits for bookkeeping. */
function noteUse({ database, clock, log }: FindCallerDeps, key: CallerKey): void {
  const at = clock.now();
  const notSince = new Date(at.getTime() - NOTED_EVERY_MS);
  if (key.lastUsedAt !== null && key.lastUsedAt > notSince) return;
  setLastUsed(database, key.id, { at, notSince }).catch((error: unknown) => {
    log.warn({ err: error, key_id: key.id }, "a key's last use was not noted");
  });
}
