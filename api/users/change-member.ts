import { lockAccount } from '#api/accounts/account-rows.ts';
import type { Database } from '#api/store/database.ts';
import { removeMembership, selectMembers, setMembership } from '#api/users/membership-rows.ts';
import type { Role } from '#api/users/user.ts';
import { MediaError } from '#crds/media-error.ts';
import type { Clock } from '#crds/shared/clock.ts';

interface Change {
  readonly accountId: string;
  readonly userId: string;
  /** null: no member any more. */
  readonly role: Role | null;
}

/** Another role for a member. @throws MediaError bad_request when the account would have no owner. */
export async function changeMember(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  { accountId, userId, role }: Change,
): Promise<void> {
  await database.transaction(async (tx) => {
    await lockAccount(tx, accountId);
    const others = (await selectMembers(tx, accountId)).filter((member) => member.userId !== userId);
    if (role !== 'owner' && others.every((member) => member.role !== 'owner')) {
      throw new MediaError('bad_request', 'The account needs an owner: make somebody else one first.', { status: 409 });
    }
    if (role === null) await removeMembership(tx, { userId, accountId });
    else await setMembership(tx, { userId, accountId, role, at: clock.now() });
  });
}
