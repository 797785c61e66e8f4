/** People who use the dashboard. `mediactl`, an operator or an account's owner invites them; nobody signs up. */

/** Of a member in an account; each may do what the next one may. */
export const ROLES = ['owner', 'developer', 'read_only'] as const;
export type Role = (typeof ROLES)[number];

export interface User {
  readonly id: string;
  /** Lower case. */
  readonly email: string;
  /** Of the installation: sees every account. */
  readonly operator: boolean;
  readonly hasPassword: boolean;
  /** A confirmed second step: signing in needs a code. */
  readonly hasSecondStep: boolean;
  readonly createdAt: Date;
}

/** True when a member of that role may do what `needed` may. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed);
}
