import type { Notice, RouteReply } from '#api/dashboard/route.ts';

/** Returns a redirect to a path below the dashboard. @param notice message that the next page shows once. */
export function redirectTo(to: string, notice: Notice | string): RouteReply {
  return { kind: 'redirect', to, notice: typeof notice === 'string' ? { text: notice } : notice };
}
