import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import type { Notice } from '#api/dashboard/route.ts';
import type { OneTimeLink } from '#api/users/one-time-link.ts';

/** Returns the notice with the link for the inviting user, because the service sends no e-mail. */
export function invitationNotice(
  { dashboardUrl }: Pick<DashboardDeps, 'dashboardUrl'>,
  { email, link }: { readonly email: string; readonly link: OneTimeLink },
): Notice {
  const until = link.expiresAt.toISOString().slice(0, 16).replace('T', ' ');
  return {
    text: `Send this link to ${email} only: whoever opens it can accept the invitation. It works once, until ${until} UTC.`,
    secret: { label: 'Invitation link', value: `${dashboardUrl}${link.path}` },
  };
}
