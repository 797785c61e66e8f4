import { MEDIACTL } from '#api/audit/audit.ts';
import type { MediactlService } from '#api/mediactl/open-service.ts';
import type { CommandResult } from '#api/mediactl/format-result.ts';
import { inviteUser } from '#api/users/invite-user.ts';
import { makeSignInLink, resetUser } from '#api/users/reset-user.ts';
import { selectMemberships } from '#api/users/membership-rows.ts';
import type { OneTimeLink } from '#api/users/one-time-link.ts';
import { removeUser } from '#api/users/remove-user.ts';
import { selectUsers } from '#api/users/user-rows.ts';
import type { Role, User } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';

interface InviteOptions {
  readonly email: string;
  readonly account?: string;
  readonly role: Role;
  readonly operator?: boolean;
}

/** Creates an invitation. The person becomes a member or an operator on accepting it by its link. */
export async function invite(service: MediactlService, options: InviteOptions): Promise<CommandResult> {
  const { email, account, role, operator = false } = options;
  if (account === undefined && !operator) {
    throw new MediaError('bad_request', 'Choose --account ACCOUNT, or --operator for the whole installation.');
  }
  const membership = account === undefined ? null : { accountId: account, role };
  const input = { email, membership, operator, as: 'operator' } as const;
  const invited = await inviteUser(service, { caller: MEDIACTL, input });
  const fields = { email: invited.email, account: account ?? null, role: membership?.role ?? null, operator };
  return { object: { ...fields, ...linkFields(service, invited.link) } };
}

/** Creates a one-time link for setting a new password. */
export async function reset(
  service: MediactlService,
  name: string,
  options: { secondStep?: boolean },
): Promise<CommandResult> {
  const input = { name, secondStep: options.secondStep ?? false };
  const { user, link } = await resetUser(service, { caller: MEDIACTL, input });
  return { object: { id: user.id, email: user.email, ...linkFields(service, link) } };
}

/** Creates a one-time link that signs in, valid for an hour. */
export async function signInLink(service: MediactlService, name: string): Promise<CommandResult> {
  const { user, link } = await makeSignInLink(service, { caller: MEDIACTL, input: { name } });
  return { object: { id: user.id, email: user.email, ...linkFields(service, link) } };
}

/** Lists all users with their memberships. */
export async function list(service: MediactlService): Promise<CommandResult> {
  const users = await selectUsers(service.database);
  return { list: await Promise.all(users.map((user) => userFields(service, user))) };
}

interface RemoveOptions {
  readonly leaveWithoutOwner?: boolean;
}

/** Removes a user and withdraws the open invitations of the e-mail address. */
export async function remove(service: MediactlService, name: string, options: RemoveOptions): Promise<CommandResult> {
  const input = { name, allowOwnerless: options.leaveWithoutOwner ?? false };
  const removed = await removeUser(service, { caller: MEDIACTL, input });
  return { object: { ...removed, deleted: true } };
}

async function userFields({ database }: MediactlService, user: User) {
  const { id, email, operator, hasPassword, hasSecondStep, createdAt } = user;
  const memberships = await selectMemberships(database, id);
  return {
    id,
    email,
    operator,
    accounts: memberships.map(({ accountId, role }) => `${accountId}:${role}`),
    password: hasPassword,
    second_step: hasSecondStep,
    created_at: createdAt.toISOString(),
  };
}

function linkFields({ dashboardUrl }: MediactlService, { path, expiresAt }: OneTimeLink) {
  return { link: `${dashboardUrl ?? '/dashboard'}${path}`, link_expires_at: expiresAt.toISOString() };
}
