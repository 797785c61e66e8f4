import { audit } from '#api/dashboard/audit.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { confirmed, EMPTY_FORM, field, formProblem, postForm, submitted, type FormState } from '#api/dashboard/form.ts';
import { flag, html } from '#api/dashboard/html.ts';
import { invitationNotice } from '#api/dashboard/invitation-notice.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { forMember, type AccountVisit, type PageReply, type Reply, type Route } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { moment } from '#api/dashboard/text.ts';
import { inviteUser } from '#api/users/invite-user.ts';
import { changeMember } from '#api/users/change-member.ts';
import { selectMembers } from '#api/users/membership-rows.ts';
import { isAtLeast, ROLES, type Role } from '#api/users/user.ts';
import { MediaError } from '#crds/media-error.ts';

/** Who belongs to the account. */
export const memberRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/members', { needs: 'read_only' }, (deps, visit) => memberPage(deps, visit, {})),
  forMember('POST', '/accounts/:account/members', { needs: 'owner' }, (deps, visit) =>
    submitted(visit, {
      work: () => invite(deps, visit),
      page: (invited) => memberPage(deps, visit, { invited }),
      fields: ['email', 'role'],
    }),
  ),
  forMember('POST', '/accounts/:account/members/:user', { needs: 'owner' }, (deps, visit) =>
    submitted(visit, {
      work: () => change(deps, visit),
      page: (changed) => memberPage(deps, visit, { changed }),
      fields: [],
    }),
  ),
];

const ROLE_CHOICES: readonly (readonly [Role, string])[] = [
  ['owner', 'owner: everything, also members and the spend cap'],
  ['developer', 'developer: keys, webhooks, presets, jobs'],
  ['read_only', 'read only'],
];

interface Forms {
  readonly invited?: FormState;
  readonly changed?: FormState;
}

async function memberPage(
  { database }: DashboardDeps,
  visit: AccountVisit,
  { invited = EMPTY_FORM, changed = EMPTY_FORM }: Forms,
): Promise<PageReply> {
  const { account } = visit;
  const members = await selectMembers(database, account.id);
  const path = `/accounts/${account.id}/members`;
  const isOwner = isAtLeast(visit.role, 'owner');
  const changing = ({ userId, email, role }: (typeof members)[number]) =>
    confirmed(visit, {
      summary: `Change ${email} …`,
      action: `${path}/${userId}`,
      body: html`<label for="role-${userId}">Role</label>
        <select id="role-${userId}" name="role">
          ${[...ROLE_CHOICES, ['none', 'no member any more'] as const].map(([value, label]) => html`<option value="${value}" ${flag('selected', value === role)}>${label}</option>`)}
        </select>`,
      button: 'Change',
      danger: true,
    });
  const body = html`${formProblem(invited)} ${field(invited, { name: 'email', label: 'E-mail', type: 'email' })}
  ${field(invited, { name: 'role', label: 'Role', choices: ROLE_CHOICES })}`;
  return {
    kind: 'page',
    title: `Members – ${account.name}`,
    body: html`<h1>Members</h1>
      ${formProblem(changed)}
      ${table({
        caption: 'Members of the account',
        columns: ['E-mail', 'Role', 'Since', ...(isOwner ? ['Change'] : [])],
        rows: members.map((member) => [
          member.email,
          member.role.replace('_', ' '),
          moment(member.since),
          ...(isOwner ? [changing(member)] : []),
        ]),
        empty: 'No members yet.',
      })}
      ${
        isOwner &&
        html`<section class="card">
          <h2>Invite somebody</h2>
          ${postForm(visit, { action: path, body, button: 'Invite' })}
        </section>`
      }`,
  };
}

async function invite(deps: DashboardDeps, visit: AccountVisit): Promise<Reply> {
  const { account, form } = visit;
  const membership = { accountId: account.id, role: roleOf(form.get('role')) };
  const { user, link } = await inviteUser(deps, {
    email: form.get('email') ?? '',
    membership,
    operator: false,
    by: 'owner',
  });
  await audit(deps, visit, { action: 'member.invite', target: user.email, accountId: account.id });
  return { kind: 'redirect', to: `/accounts/${account.id}/members`, notice: invitationNotice(deps, user, link) };
}

async function change(deps: DashboardDeps, visit: AccountVisit): Promise<Reply> {
  const { account, form, params } = visit;
  const wanted = form.get('role') === 'none' ? null : roleOf(form.get('role'));
  const userId = params['user'] ?? '';
  const member = (await selectMembers(deps.database, account.id)).find((one) => one.userId === userId);
  if (member === undefined) throw notFound();
  await changeMember(deps, { accountId: account.id, userId, role: wanted });
  await audit(deps, visit, { action: 'member.change', target: member.email, accountId: account.id });
  const text = wanted === null ? `${member.email} is no member any more.` : `${member.email} has another role.`;
  return { kind: 'redirect', to: userId === visit.user.id ? '/' : `/accounts/${account.id}/members`, notice: { text } };
}

function roleOf(text: string | null): Role {
  const role = ROLES.find((one) => one === text);
  if (role !== undefined) return role;
  throw new MediaError('bad_request', `Choose one of ${ROLES.join(', ')}.`, { param: 'role' });
}
