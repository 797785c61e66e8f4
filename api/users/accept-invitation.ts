/**
 * Acceptance of an invitation. It needs the link, and one of two proofs of identity:
 *
 * - a session of a login of the invited address. The membership is added to that login;
 * - a new password. It creates a new login with this membership only.
 *
 * So a person with the link but without the password of the existing login gets only the invited membership. A person
 * who has set up a login for another person's address gets no membership that the other person accepts later.
 */
import { lockAccount } from '#api/accounts/account-rows.ts';
import { recordAudit } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import type { Queryable } from '#api/store/database.ts';
import { findInvitation, consumeInvitation, type Invitation } from '#api/users/invitation-rows.ts';
import { deleteLinks } from '#api/users/link-rows.ts';
import { selectMembers, setMembership } from '#api/users/membership-rows.ts';
import { tokenDigest } from '#api/users/token.ts';
import { findUser, insertUser, setOperator } from '#api/users/user-rows.ts';
import type { User } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Proof of identity: a signed-in user, or the hash of a new login's password. */
type Acceptance = { readonly userId: string } | { readonly passwordHash: string };

interface AcceptedInvitation {
  /** Token of the invitation's link. */
  readonly token: string;
  readonly acceptance: Acceptance;
}

/**
 * Creates the membership and ends the invitation. Returns the user after the change.
 * @throws MediaError not_found when the invitation has ended, bad_request (403) for a user of another address, (409)
 * for a new login when the address has one in the account already.
 */
export async function acceptInvitation(
  { database, clock, newId }: Pick<Dependencies, 'database' | 'clock' | 'newId'>,
  { caller, input: { token, acceptance } }: { caller: { readonly address: string }; input: AcceptedInvitation },
): Promise<User> {
  const digest = tokenDigest(token);
  const at = clock.now();
  return database.transaction(async (tx) => {
    const invitation = await findInvitation(tx, digest, at);
    if (invitation?.accountId != null) await lockAccount(tx, invitation.accountId);
    if (invitation === null || !(await consumeInvitation(tx, digest, at))) throw linkNotFound();
    const userId = await personOf(tx, invitation, { acceptance, id: newId('user'), at });
    const { accountId, role } = invitation;
    if (accountId !== null && role !== null) {
      await refuseDuplicateMember(tx, { accountId, userId, email: invitation.email });
      await setMembership(tx, { userId, accountId, role, at });
    }
    if (invitation.operator) await setOperator(tx, userId);
    await deleteLinks(tx, userId);
    const user = await findUser(tx, userId);
    if (user === null) throw linkNotFound();
    const change = { at, action: 'member.accept', target: invitation.email, accountId };
    await recordAudit(tx, { kind: 'person', user, address: caller.address }, change);
    return user;
  });
}

/** Returns the refusal of a link that no longer works. */
export function linkNotFound(): MediaError {
  return new MediaError('not_found', 'This link was used, was withdrawn or has expired. Ask for a new one.');
}

async function personOf(
  tx: Queryable,
  { email }: Invitation,
  { acceptance, id, at }: { acceptance: Acceptance; id: string; at: Date },
): Promise<string> {
  if ('passwordHash' in acceptance) {
    await insertUser(tx, {
      id,
      email,
      operator: false,
      password: acceptance.passwordHash,
      identity: null,
      createdAt: at,
    });
    return id;
  }
  const user = await findUser(tx, acceptance.userId);
  if (user?.email === email) return user.id;
  throw new MediaError('bad_request', `This invitation is for ${email}. Sign out, then open the link again.`, {
    status: 403,
  });
}

/** Refuses a second member of the same address: an account lists its members by address. */
async function refuseDuplicateMember(
  tx: Queryable,
  { accountId, userId, email }: { accountId: string; userId: string; email: string },
): Promise<void> {
  const members = await selectMembers(tx, accountId);
  if (members.every((member) => member.email !== email || member.userId === userId)) return;
  throw new MediaError(
    'bad_request',
    `${email} is a member of this account already. Sign in to accept, or ask an owner to remove that member first.`,
    { status: 409 },
  );
}
