/** Changes of password and second step. Each ends every other session and every one-time link of the user. */
import { recordAudit, type PersonActor } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import type { Queryable } from '#api/store/database.ts';
import { deleteLinks, consumeLink, type LinkPurpose } from '#api/users/link-rows.ts';
import { deleteSessionsOf, keepSession } from '#api/users/session-rows.ts';
import { findUser, setPassword, setSecondStep } from '#api/users/user-rows.ts';
import type { User } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';

type Credential =
  | { readonly kind: 'password'; readonly hash: string }
  /** `on` null: the second step is switched off. */
  | { readonly kind: 'second_step'; readonly on: { readonly sealed: Buffer; readonly step: number } | null };

interface CredentialChange {
  /** Digest of the session that makes the change and stays open. */
  readonly session: Buffer;
  readonly credential: Credential;
}

/** Signed-in person as read before the password was checked. A later change of credentials refuses this one. */
interface CredentialOwner extends PersonActor {
  readonly user: Pick<User, 'id' | 'email' | 'generation'>;
}

/** Changes a credential of a signed-in person. @throws MediaError bad_request (409) after another change. */
export async function changeCredential(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { caller, input: { session, credential } }: { caller: CredentialOwner; input: CredentialChange },
): Promise<void> {
  const { user } = caller;
  await database.transaction(async (tx) => {
    if (!(await apply(tx, user, credential))) {
      throw new MediaError('bad_request', 'Your password or second step was changed meanwhile. Sign in again.', {
        status: 409,
      });
    }
    await keepSession(tx, session);
    await deleteSessionsOf(tx, user.id, session);
    await deleteLinks(tx, user.id);
    const change = { action: actionOf(credential), target: user.email, accountId: null };
    await recordAudit(tx, caller, { at: clock.now(), ...change });
  });
}

function actionOf(credential: Credential): string {
  if (credential.kind === 'password') return 'password.change';
  return credential.on === null ? 'second_step.off' : 'second_step.on';
}

function apply(tx: Queryable, user: CredentialOwner['user'], credential: Credential): Promise<boolean> {
  return credential.kind === 'password'
    ? setPassword(tx, user, credential.hash)
    : setSecondStep(tx, user, credential.on);
}

interface LinkUse {
  readonly digest: Buffer;
  readonly userId: string;
  readonly purpose: LinkPurpose;
  /** null: the link signs in only. */
  readonly passwordHash: string | null;
}

/**
 * Consumes a one-time link and applies its purpose. Returns the user after the change, or null when the link has ended.
 */
export async function useOneTimeLink(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { caller, input: use }: { caller: { readonly address: string }; input: LinkUse },
): Promise<User | null> {
  const at = clock.now();
  return database.transaction(async (tx) => {
    if (!(await consumeLink(tx, use.digest, at))) return null;
    await deleteLinks(tx, use.userId);
    if (use.passwordHash !== null) {
      const user = await findUser(tx, use.userId);
      if (user === null || !(await setPassword(tx, user, use.passwordHash))) return null;
      await deleteSessionsOf(tx, user.id, null);
      const change = { at, action: 'password.reset', target: user.email, accountId: null };
      await recordAudit(tx, { kind: 'person', user, address: caller.address }, change);
    }
    if (use.purpose === 'password_and_second_step') {
      const user = await findUser(tx, use.userId);
      if (user !== null) await setSecondStep(tx, user, null);
    }
    return findUser(tx, use.userId);
  });
}
