import { MEDIACTL } from '#api/audit/audit.ts';
import type { Database } from '#api/store/database.ts';
import { acceptInvitation } from '#api/users/accept-invitation.ts';
import { inviteUser } from '#api/users/invite-user.ts';
import { hashPassword } from '#api/users/password.ts';
import type { Role, User } from '#api/users/user.ts';
import type { NewId } from '#crds/contract/ids.ts';
import type { Clock } from '#crds/process/clock.ts';

interface PeopleDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly newId: NewId;
}

interface Wanted {
  readonly email: string;
  /** null: in no account. */
  readonly membership: { readonly accountId: string; readonly role: Role } | null;
  readonly operator?: boolean;
}

/** Password of everybody whom `addPerson` and `invite` know. */
export const PASSWORD = 'nobody guesses this one';

/** Returns the token of an invitation's link. */
export async function invite(deps: PeopleDeps, { email, membership, operator = false }: Wanted): Promise<string> {
  const input = { email, membership, operator, as: 'operator' } as const;
  const { link } = await inviteUser(deps, { caller: MEDIACTL, input });
  return link.path.replace('/links/', '');
}

/** Returns a new login that has accepted an invitation and has the password of the tests. */
export async function addPerson(deps: PeopleDeps, wanted: Wanted): Promise<User> {
  const acceptance = { passwordHash: await hashPassword(PASSWORD) };
  const input = { token: await invite(deps, wanted), acceptance };
  return acceptInvitation(deps, { caller: { address: '192.0.2.1' }, input });
}
