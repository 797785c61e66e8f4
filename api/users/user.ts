/** People who use the dashboard. `mediactl`, an operator or an account's owner invites them; nobody signs up. */

/** Roles of a member in an account; each includes the rights of the next one. */
export const ROLES = ['owner', 'developer', 'read_only'] as const;
export type Role = (typeof ROLES)[number];

export interface User {
  readonly id: string;
  /** In lower case. Several users may have the same address; the id identifies one. */
  readonly email: string;
  /** True: operator of the installation, who sees every account. */
  readonly operator: boolean;
  readonly hasPassword: boolean;
  /** True: the second step is confirmed, so that a sign-in needs a code. */
  readonly hasSecondStep: boolean;
  /** True: bound to an identity at the identity provider. */
  readonly hasIdentity: boolean;
  /** Number of changes of password and second step; a session of an earlier generation has ended. */
  readonly generation: number;
  readonly createdAt: Date;
}

/** Returns true when a role includes the rights of `needed`. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed);
}
