import { html } from '#api/dashboard/html.ts';
import { forUser, type Route } from '#api/dashboard/route.ts';
import { selectMemberships } from '#api/users/membership-rows.ts';

const ROLE_LABELS = { owner: 'owner', developer: 'developer', read_only: 'may read' } as const;

/** Start page: redirects to the only account, or lists the accounts of the user. */
export const homeRoutes: readonly Route[] = [
  forUser('GET', '/', async ({ database }, { user }) => {
    const memberships = await selectMemberships(database, user.id);
    const [only] = memberships;
    if (memberships.length === 1 && only !== undefined && !user.operator)
      return { kind: 'redirect', to: `/accounts/${only.accountId}` };
    if (memberships.length === 0 && user.operator) return { kind: 'redirect', to: '/operator' };
    return {
      kind: 'page',
      title: 'Accounts',
      body: html`<h1>Accounts</h1>
        ${
          memberships.length === 0 &&
          html`<p class="empty">
            You are not a member of any account yet. Ask an owner of your company's account, or the operator, to invite
            ${user.email}.
          </p>`
        }
        <ul class="cards">
          ${memberships.map(
            ({ accountId, accountName, role }) =>
              html`<li>
                <a class="card" href="/dashboard/accounts/${accountId}"
                  ><strong>${accountName}</strong><span>${ROLE_LABELS[role]}</span></a
                >
              </li>`,
          )}
          ${
            user.operator &&
            html`<li>
              <a class="card" href="/dashboard/operator"><strong>The installation</strong><span>operator</span></a>
            </li>`
          }
        </ul>`,
    };
  }),
];
