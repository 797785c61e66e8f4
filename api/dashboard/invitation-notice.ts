import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import type { Notice } from '#api/dashboard/route.ts';
import type { OneTimeLink } from '#api/users/one-time-link.ts';
import type { User } from '#api/users/user.ts';

/** What whoever invites is shown; the service sends no mail. */
export function invitationNotice(
  { dashboardUrl }: Pick<DashboardDeps, 'dashboardUrl'>,
  { email }: Pick<User, 'email'>,
  link: OneTimeLink | null,
): Notice {
  if (link === null)
    return { text: `${email} is invited and signs in as before; who cannot, asks the operator for a new link.` };
  return {
    text: `Give this link to ${email}. It works once, until ${link.expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
    secret: { label: 'Invitation link', value: `${dashboardUrl}${link.path}` },
  };
}
