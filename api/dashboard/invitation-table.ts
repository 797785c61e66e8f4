import { html, type Content, type Html } from '#api/dashboard/html.ts';
import { table } from '#api/dashboard/table.ts';
import { ago, moment } from '#api/dashboard/format-values.ts';
import type { Invitation } from '#api/users/invitation-rows.ts';

/** Returns a table of open invitations; null without any. @param end returns a form that withdraws an invitation. */
export function invitationTable(
  invitations: readonly Invitation[],
  end: ((invitation: Invitation) => Content) | null,
): Html | null {
  if (invitations.length === 0) return null;
  return html`<h2>Invitations</h2>
    ${table({
      caption: 'Invitations that were not accepted yet',
      columns: ['E-mail', 'State', 'Role', 'Invited', 'Until', ...(end === null ? [] : ['Withdraw'])],
      rows: invitations.map((invitation) => [
        invitation.email,
        html`<span class="status processing">pending</span>`,
        invitation.role?.replace('_', ' ') ?? '–',
        ago(invitation.createdAt),
        moment(invitation.expiresAt),
        ...(end === null ? [] : [end(invitation)]),
      ]),
      empty: null,
    })}`;
}
