import type { Service } from '#api/mediactl/open-service.ts';
import type { Answer } from '#api/mediactl/print.ts';
import { inviteUser } from '#api/users/invite-user.ts';
import { resetUser, userOf } from '#api/users/reset-user.ts';
import { selectMemberships } from '#api/users/membership-rows.ts';
import { makeLink, type OneTimeLink } from '#api/users/one-time-link.ts';
import { deleteUser, selectUsers } from '#api/users/user-rows.ts';
import type { Role, User } from '#api/users/user.ts';
import { MediaError } from '#crds/media-error.ts';

interface InviteOptions {
  readonly email: string;
  readonly account?: string;
  readonly role: Role;
  readonly operator?: boolean;
}

/** A person of the dashboard, with a one-time link to set a password when there is none yet. */
export async function invite(service: Service, options: InviteOptions): Promise<Answer> {
  const { email, account, role, operator = false } = options;
  if (account === undefined && !operator) {
    throw new MediaError('bad_request', 'Say where to: --account ACCOUNT, or --operator for the whole installation.');
  }
  const membership = account === undefined ? null : { accountId: account, role };
  const { user, link } = await inviteUser(service, { email, membership, operator, by: 'operator' });
  return { object: { ...(await userFields(service, user)), ...linkFields(service, link) } };
}

/** A one-time link to a new password. */
export async function reset(service: Service, email: string, options: { secondStep?: boolean }): Promise<Answer> {
  const link = await resetUser(service, { email, secondStep: options.secondStep ?? false });
  return { object: { email, ...linkFields(service, link) } };
}

/** A one-time link that signs in, for an hour. */
export async function signInLink(service: Service, email: string): Promise<Answer> {
  const { id } = await userOf(service, email);
  return { object: { email, ...linkFields(service, await makeLink(service, { userId: id, purpose: 'sign_in' })) } };
}

export async function list(service: Service): Promise<Answer> {
  const users = await selectUsers(service.database);
  return { list: await Promise.all(users.map((user) => userFields(service, user))) };
}

export async function remove(service: Service, email: string): Promise<Answer> {
  const user = await userOf(service, email);
  await deleteUser(service.database, user.email);
  return { object: { email: user.email, deleted: true } };
}

async function userFields({ database }: Service, { id, email, operator, hasPassword, hasSecondStep, createdAt }: User) {
  const memberships = await selectMemberships(database, id);
  return {
    email,
    operator,
    accounts: memberships.map(({ accountId, role }) => `${accountId}:${role}`),
    password: hasPassword,
    second_step: hasSecondStep,
    created_at: createdAt.toISOString(),
  };
}

function linkFields({ dashboardUrl }: Service, link: OneTimeLink | null) {
  const url = link === null ? null : `${dashboardUrl ?? '/dashboard'}${link.path}`;
  return { link: url, link_expires_at: link?.expiresAt.toISOString() ?? null };
}
