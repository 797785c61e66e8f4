import { lockAccount } from '#api/accounts/account-rows.ts';
import { recordAudit, type PersonActor } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import type { Queryable } from '#api/store/database.ts';
import { deleteInvitation, deleteInvitationsBy } from '#api/users/invitation-rows.ts';
import { changeRole, removeMembership, selectMembers } from '#api/users/membership-rows.ts';
import { requireOwner } from '#api/users/require-owner.ts';
import { deleteIdleUser } from '#api/users/user-rows.ts';
import type { Role } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';

interface MemberChange {
  readonly accountId: string;
  readonly userId: string;
  /** null: the membership ends. */
  readonly role: Role | null;
}

/**
 * Changes a member's role or removes the member, and withdraws the invitations that a former owner has sent. A login
 * without memberships is deleted with its sessions. Changes of one account are serialized; the caller must be an owner
 * at the time of the change.
 * @throws MediaError bad_request (409) when the account would have no owner, (403) when the caller is none, not_found.
 */
export async function changeMember(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { caller, input: { accountId, userId, role } }: { caller: PersonActor; input: MemberChange },
): Promise<void> {
  await database.transaction(async (tx) => {
    await lockAccount(tx, accountId);
    const members = await selectMembers(tx, accountId);
    requireOwner(members.find((member) => member.userId === caller.user.id)?.role ?? null);
    const member = members.find((one) => one.userId === userId);
    if (member === undefined) throw new MediaError('not_found', 'This user is no longer a member of the account.');
    if (role !== 'owner' && members.every((one) => one.role !== 'owner' || one.userId === userId)) {
      throw new MediaError('bad_request', 'The account needs an owner. Make another member an owner first.', {
        status: 409,
      });
    }
    if (role !== 'owner') await deleteInvitationsBy(tx, { userId, accountId });
    if (role === null) await remove(tx, { userId, accountId, email: member.email });
    else await changeRole(tx, { userId, accountId, role });
    await recordAudit(tx, caller, { at: clock.now(), action: 'member.change', target: member.email, accountId });
  });
}

async function remove(
  tx: Queryable,
  { userId, accountId, email }: { userId: string; accountId: string; email: string },
): Promise<void> {
  await removeMembership(tx, { userId, accountId });
  await deleteInvitation(tx, { email, accountId });
  await deleteIdleUser(tx, userId);
}
