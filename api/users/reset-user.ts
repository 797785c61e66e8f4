import { recordAudit, type Actor } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import type { Queryable } from '#api/store/database.ts';
import type { LinkPurpose } from '#api/users/link-rows.ts';
import { makeLink, type OneTimeLink } from '#api/users/one-time-link.ts';
import { findUser, selectUsersByEmail } from '#api/users/user-rows.ts';
import type { User } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';

const MAX_SHOWN = 200;

interface UserLink {
  readonly user: User;
  readonly link: OneTimeLink;
}

/**
 * Creates a link by which the user sets a new password. `secondStep`: the link also switches off the second step, for
 * users who have lost the authenticator. Nothing changes until the link is used. Only `mediactl` calls it: owners of
 * accounts cannot reset users.
 * @throws MediaError not_found, bad_request when several people have the address.
 */
export async function resetUser(
  deps: Pick<Dependencies, 'database' | 'clock'>,
  { caller, input: { name, secondStep } }: { caller: Actor; input: { name: string; secondStep: boolean } },
): Promise<UserLink> {
  const purpose = secondStep ? 'password_and_second_step' : 'password';
  return linkFor(deps, caller, { name, purpose, action: 'user.reset' });
}

/**
 * Creates a link that signs the user in, for an hour.
 * @throws MediaError not_found, bad_request when several people have the address.
 */
export async function makeSignInLink(
  deps: Pick<Dependencies, 'database' | 'clock'>,
  { caller, input: { name } }: { caller: Actor; input: { name: string } },
): Promise<UserLink> {
  return linkFor(deps, caller, { name, purpose: 'sign_in', action: 'user.sign_in_link' });
}

async function linkFor(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  caller: Actor,
  { name, purpose, action }: { name: string; purpose: LinkPurpose; action: string },
): Promise<UserLink> {
  const at = clock.now();
  return database.transaction(async (tx) => {
    const user = await userOf({ database: tx }, name);
    const link = await makeLink(tx, { userId: user.id, purpose, at });
    await recordAudit(tx, caller, { at, action, target: user.email, accountId: null });
    return { user, link };
  });
}

/** Returns the user of an id, or of an address that one user has. @throws MediaError not_found, bad_request. */
export async function userOf({ database }: { readonly database: Queryable }, name: string): Promise<User> {
  const byId = await findUser(database, name.trim());
  if (byId !== null) return byId;
  const [user, ...others] = await selectUsersByEmail(database, name.trim().toLowerCase());
  const shown = name.slice(0, MAX_SHOWN);
  if (user === undefined) throw new MediaError('not_found', `There is no user \`${shown}\`.`, { param: 'email' });
  if (others.length === 0) return user;
  const ids = [user, ...others].map(({ id }) => id).join(', ');
  throw new MediaError(
    'bad_request',
    `${others.length + 1} people have set up a login for \`${shown}\`. Name one by its id, as \`mediactl user list\` shows them: ${ids}.`,
    { param: 'email' },
  );
}
