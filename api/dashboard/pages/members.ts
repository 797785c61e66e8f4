import { actorOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { confirmForm, EMPTY_FORM, field, formAction, formProblem, postForm } from '#api/dashboard/form.ts';
import { flag, html, type Html } from '#api/dashboard/html.ts';
import { invitationNotice } from '#api/dashboard/invitation-notice.ts';
import { invitationTable } from '#api/dashboard/invitation-table.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forMember, type AccountVisit, type PageReply, type Route, type RouteReply } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { ago } from '#api/dashboard/format-values.ts';
import { selectInvitations } from '#api/users/invitation-rows.ts';
import { inviteUser, withdrawInvitation } from '#api/users/invite-user.ts';
import { changeMember } from '#api/users/change-member.ts';
import { selectMembers } from '#api/users/membership-rows.ts';
import { isAtLeast, ROLES, type Role } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Page that lists, invites and changes the members of an account. */
export const memberRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/members', { needs: 'read_only' }, memberPage),
  forMember(
    'POST',
    '/accounts/:account/members',
    { needs: 'owner' },
    formAction({ work: invite, page: memberPage, fields: ['email', 'role'] }),
  ),
  forMember('POST', '/accounts/:account/members/withdraw', { needs: 'owner', whileSuspended: true }, withdraw),
  forMember(
    'POST',
    '/accounts/:account/members/:user',
    { needs: 'owner' },
    formAction({
      work: change,
      page: (deps, visit, changed) => memberPage(deps, visit, EMPTY_FORM, changed),
      fields: [],
    }),
  ),
];

const ROLE_CHOICES: readonly (readonly [Role, string])[] = [
  ['owner', 'owner: everything, including members'],
  ['developer', 'developer: keys, webhooks, presets, jobs'],
  ['read_only', 'read only'],
];

async function memberPage(
  { database, clock }: DashboardDeps,
  visit: AccountVisit,
  invited = EMPTY_FORM,
  changed = EMPTY_FORM,
): Promise<PageReply> {
  const { account } = visit;
  const members = await selectMembers(database, account.id);
  const invitations = await selectInvitations(database, account.id, clock.now());
  const path = `/accounts/${account.id}/members`;
  const isOwner = isAtLeast(visit.role, 'owner');
  const changeForm = ({ userId, email, role }: (typeof members)[number]) =>
    confirmForm(visit, {
      summary: `Change ${email} …`,
      action: `${path}/${userId}`,
      body: html`<label for="role-${userId}">Role</label>
        <select id="role-${userId}" name="role">
          ${[...ROLE_CHOICES, ['none', 'no longer a member'] as const].map(([value, label]) => html`<option value="${value}" ${flag('selected', value === role)}>${label}</option>`)}
        </select>`,
      button: 'Change',
    });
  const form = invited.values.has('role')
    ? invited
    : { ...invited, values: new URLSearchParams([...invited.values, ['role', 'developer']]) };
  const body = html`${field(form, { name: 'email', label: 'E-mail', type: 'email' })}
  ${field(form, { name: 'role', label: 'Role', choices: ROLE_CHOICES })}`;
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
          ago(member.since),
          ...(isOwner ? [changeForm(member)] : []),
        ]),
        empty: 'No members yet.',
      })}
      ${invitationTable(invitations, isOwner ? ({ email }) => withdrawalForm(visit, `${path}/withdraw`, email) : null)}
      ${
        isOwner &&
        html`<section class="card">
          <h2>Invite somebody</h2>
          ${postForm(visit, { action: path, form: invited, body, button: 'Invite' })}
        </section>`
      }`,
  };
}

async function invite(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const { account, form } = visit;
  const membership = { accountId: account.id, role: roleOf(form.get('role')) };
  const input = { email: form.get('email') ?? '', membership, operator: false, as: 'owner' } as const;
  const invited = await inviteUser(deps, { caller: actorOf(visit), input });
  return redirectTo(`/accounts/${account.id}/members`, invitationNotice(deps, invited));
}

function withdrawalForm(visit: AccountVisit, action: string, email: string): Html {
  const body = html`<input type="hidden" name="email" value="${email}" />`;
  return postForm(visit, { action, body, button: 'Withdraw' });
}

async function withdraw(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const { account, form } = visit;
  const email = form.get('email') ?? '';
  const input = { email, accountId: account.id };
  if (!(await withdrawInvitation(deps, { caller: actorOf(visit), input }))) throw notFound();
  const text = `The invitation of ${email} is withdrawn; its link no longer works.`;
  return redirectTo(`/accounts/${account.id}/members`, text);
}

async function change(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const { account, form, params } = visit;
  const wanted = form.get('role') === 'none' ? null : roleOf(form.get('role'));
  const userId = params['user'] ?? '';
  const member = (await selectMembers(deps.database, account.id)).find((one) => one.userId === userId);
  if (member === undefined) throw notFound();
  await changeMember(deps, { caller: actorOf(visit), input: { accountId: account.id, userId, role: wanted } });
  const text =
    wanted === null ? `${member.email} is removed from the account.` : `The role of ${member.email} is changed.`;
  return redirectTo(userId === visit.user.id ? '/' : `/accounts/${account.id}/members`, text);
}

function roleOf(text: string | null): Role {
  const role = ROLES.find((one) => one === text);
  if (role !== undefined) return role;
  throw new MediaError('bad_request', `Choose one of ${ROLES.join(', ')}.`, { param: 'role' });
}
