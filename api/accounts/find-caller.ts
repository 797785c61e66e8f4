/**
 * Authentication of a request by the key in its `Authorization` header. Key and account are read from the database at
 * every request, in one query, so a revocation or a suspension applies on every server from the next request on. See
 * docs/reference/basics.md#keys-and-modes.
 */
import type { Dependencies } from '#api/dependencies.ts';
import type { Account } from '#api/accounts/account.ts';
import { isKeyText, keyDigest, type Peppers } from '#api/accounts/api-key.ts';
import { selectCaller, setDigest, setExposed, setLastUsed, type CallerKey } from '#api/accounts/key-rows.ts';
import type { Actor } from '#api/audit/audit.ts';
import type { Queryable } from '#api/store/database.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Account that an operation belongs to, and who requests it. */
export interface AccountCaller {
  readonly account: Account;
  readonly livemode: boolean;
  readonly actor: Actor;
}

/** Sender of a request with an API key. */
export interface Caller extends AccountCaller {
  readonly keyId: string;
  /** Canonical addresses and CIDRs; empty: any address. */
  readonly allowList: readonly string[];
}

interface FindCallerDeps extends Pick<Dependencies, 'clock' | 'log'> {
  readonly database: Queryable;
  readonly peppers: Peppers;
}

/** Minimum interval between updates of a key's last use, in milliseconds. */
const LAST_USE_INTERVAL_MS = 60_000;

export interface KeyedRequest {
  /** The header `Authorization`. */
  readonly authorization: string | undefined;
  /** IP address of the client. */
  readonly address: string;
}

/** Returns the caller of a request. @throws MediaError missing_key, invalid_key or revoked_key. */
export async function findCaller(deps: FindCallerDeps, { authorization, address }: KeyedRequest): Promise<Caller> {
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
  recordLastUse(deps, key);
  const actor = { kind: 'api_key', keyId: key.id, address } as const;
  return { account, keyId: key.id, livemode: key.livemode, actor, allowList: key.allowList };
}

/** Marks the key of the header, if there is one, as exposed: it was sent over plain http. */
export async function noteExposedKey(
  deps: Pick<FindCallerDeps, 'database' | 'clock' | 'peppers'>,
  authorization: string | undefined,
): Promise<void> {
  const keyText = bearerToken(authorization);
  if (keyText === null || !isKeyText(keyText)) return;
  await setExposed(deps.database, digestsOf(deps.peppers, keyText), deps.clock.now());
}

/** Finds a key. Stores a key of an earlier pepper under the current one, so that peppers can be retired. */
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

/** Returns the token of an `Authorization` header; the case of the scheme is ignored (RFC 9110, 11.1). */
function bearerToken(authorization: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null;
}

/** Records the last use of a key, at most once a minute. Not awaited, so that no request waits for it. */
function recordLastUse({ database, clock, log }: FindCallerDeps, key: CallerKey): void {
  const at = clock.now();
  const notSince = new Date(at.getTime() - LAST_USE_INTERVAL_MS);
  if (key.lastUsedAt !== null && key.lastUsedAt > notSince) return;
  setLastUsed(database, key.id, { at, notSince }).catch((error: unknown) => {
    log.warn({ err: error, key_id: key.id }, 'recording the last use of a key failed');
  });
}
