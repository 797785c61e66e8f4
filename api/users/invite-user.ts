/**
 * Invitations into an account, or among the operators of the installation.
 *
 *   (none) ──an owner, an operator or mediactl invites an address──→ open ──accepted with its link──→ membership
 *                                                                     ├── withdrawn, or invited again ──→ deleted
 *                                                                     ├── its sender may no longer invite ──→ deleted
 *                                                                     └── 72 hours ──→ expired
 *
 * The sender sees the link, because the service sends no mail. So the link accepts this invitation only and never signs
 * in to an existing login: see `accept-invitation.ts`.
 */
import { lockAccount } from '#api/accounts/account-rows.ts';
import { recordAudit, type Actor } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import type { Queryable } from '#api/store/database.ts';
import { checkedEmail } from '#api/users/email-address.ts';
import { deleteInvitation, forgetInvitations, putInvitation } from '#api/users/invitation-rows.ts';
import { findRole, selectMembers } from '#api/users/membership-rows.ts';
import type { OneTimeLink } from '#api/users/one-time-link.ts';
import { requireOwner } from '#api/users/require-owner.ts';
import { newToken, tokenDigest } from '#api/users/token.ts';
import type { Role } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';

interface NewMemberInvitation {
  readonly email: string;
  /** null: no membership. */
  readonly membership: { readonly accountId: string; readonly role: Role } | null;
  readonly operator: boolean;
  /** Right of the caller: an owner invites only to the own account, and nobody who is a member. */
  readonly as: 'operator' | 'owner';
}

const LIFETIME_MS = 72 * 3600 * 1000;

/**
 * Creates an invitation and its link; the membership begins with the acceptance.
 * @throws MediaError bad_request for the address, not_found for the account, bad_request (403) when the caller is no
 * owner.
 */
export async function inviteUser(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { caller, input }: { caller: Actor; input: NewMemberInvitation },
): Promise<{ email: string; link: OneTimeLink }> {
  const { membership, operator } = input;
  const email = checkedEmail(input.email);
  const accountId = membership?.accountId ?? null;
  const invitedBy = caller.kind === 'person' ? caller.user.id : null;
  const token = newToken();
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + LIFETIME_MS);
  await database.transaction(async (tx) => {
    if (accountId !== null) {
      await checkInvitable(tx, { email, accountId, ownerId: input.as === 'owner' ? invitedBy : null });
    }
    await forgetInvitations(tx, createdAt);
    await putInvitation(tx, {
      digest: tokenDigest(token),
      email,
      accountId,
      role: membership?.role ?? null,
      operator,
      invitedBy,
      createdAt,
      expiresAt,
    });
    await recordAudit(tx, caller, { at: createdAt, action: 'member.invite', target: email, accountId });
  });
  return { email, link: { path: `/links/${token}`, expiresAt } };
}

/**
 * Withdraws the open invitation of an address into an account: its link no longer works. Returns false when there is
 * none.
 */
export async function withdrawInvitation(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { caller, input: { email, accountId } }: { caller: Actor; input: { email: string; accountId: string } },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    if (!(await deleteInvitation(tx, { email, accountId }))) return false;
    await recordAudit(tx, caller, { at: clock.now(), action: 'member.withdraw', target: email, accountId });
    return true;
  });
}

/** Checks under the account's lock, so that an owner whose removal is in progress invites nobody. */
async function checkInvitable(
  tx: Queryable,
  { email, accountId, ownerId }: { email: string; accountId: string; ownerId: string | null },
): Promise<void> {
  if ((await lockAccount(tx, accountId)) === null) {
    throw new MediaError('not_found', `There is no account \`${accountId}\`.`, { param: 'account' });
  }
  if (ownerId === null) return;
  requireOwner(await findRole(tx, { userId: ownerId, accountId }));
  if ((await selectMembers(tx, accountId)).every((member) => member.email !== email)) return;
  throw new MediaError('bad_request', `${email} is a member already. Change the role instead.`, { param: 'email' });
}
