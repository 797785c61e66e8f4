/**
 * A page or an action of the dashboard: one method of one path, and who may use it. What they change goes through
 * the functions that the API and `mediactl` use.
 */
import type { Readable } from 'node:stream';
import type { Account } from '#api/accounts/account.ts';
import { findAccount } from '#api/accounts/account-rows.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import type { Html } from '#api/dashboard/html.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { findRole } from '#api/users/membership-rows.ts';
import type { Session } from '#api/users/session.ts';
import { isAtLeast, type Role, type User } from '#api/users/user.ts';
import { MediaError } from '#crds/media-error.ts';

export interface Visit {
  /** `req_…`. */
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** Below the dashboard, such as `/sign-in`. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Of a POST whose token was right; empty otherwise. */
  readonly form: URLSearchParams;
  readonly cookies: ReadonlyMap<string, string>;
  readonly address: string;
  readonly agent: string;
  /** Aborts when the browser has gone or the service stops. */
  readonly signal: AbortSignal;
  /** null: nobody is signed in. */
  readonly session: Session | null;
  /** A session that still waits for its second step. */
  readonly pending: Session | null;
  /** Proof for forms that they are ours. */
  readonly formToken: string;
}

export interface UserVisit extends Visit {
  readonly session: Session;
  readonly user: User;
}

export interface AccountVisit extends UserVisit {
  readonly account: Account;
  /** An operator who is no member reads. */
  readonly role: Role;
}

/** Shown on the next page, once. */
export interface Notice {
  readonly text: string;
  /** A key or signing secret that nobody can read again. */
  readonly secret?: { readonly label: string; readonly value: string };
}

export interface PageReply {
  readonly kind: 'page';
  readonly status?: number;
  readonly title: string;
  readonly body: Html;
}

export type Reply =
  | PageReply
  | {
      readonly kind: 'redirect';
      /** Below the dashboard, or a whole address. */
      readonly to: string;
      readonly notice?: Notice;
      /** A new session's token; null: signed out. */
      readonly session?: string | null;
      readonly cookies?: readonly string[];
    }
  | {
      readonly kind: 'file';
      readonly body: Buffer | Readable | string;
      readonly headers: Readonly<Record<string, string | number>>;
    };

export interface Route {
  readonly method: 'GET' | 'POST';
  /** With `:name` for parameters. */
  readonly path: `/${string}`;
  /** True: the page is for people who are not signed in too. */
  readonly isOpen: boolean;
  readonly handle: (deps: DashboardDeps, visit: Visit) => Promise<Reply>;
}

type Handle<V> = (deps: DashboardDeps, visit: V) => Promise<Reply> | Reply;
type Path = `/${string}`;
type Method = Route['method'];

export function forAnyone(method: Method, path: Path, handle: Handle<Visit>): Route {
  return { method, path, isOpen: true, handle: async (deps, visit) => handle(deps, visit) };
}

export function forUser(method: Method, path: Path, handle: Handle<UserVisit>): Route {
  return { method, path, isOpen: false, handle: async (deps, visit) => handle(deps, asUser(visit)) };
}

export function forOperator(method: Method, path: Path, handle: Handle<UserVisit>): Route {
  return forUser(method, path, (deps, visit) => {
    if (!visit.user.operator) throw notFound();
    return handle(deps, visit);
  });
}

interface AccountRule {
  readonly needs: Role;
  /** Also while the account is suspended, such as revoking a key. */
  readonly whileSuspended?: true;
}

/** Below `/accounts/:account`. An account that the user is no member of does not exist for the user. */
export function forMember(
  method: Method,
  path: `/accounts/:account${string}`,
  rule: AccountRule,
  handle: Handle<AccountVisit>,
): Route {
  return forUser(method, path, async (deps, visit) => {
    const account = await findAccount(deps.database, visit.params['account'] ?? '');
    const role = account === null ? null : await roleOf(deps, visit.user, account.id);
    if (account === null || role === null) throw notFound();
    refuseRole(role, rule.needs);
    if (method === 'POST' && account.suspended && rule.whileSuspended !== true) throw suspended();
    return handle(deps, { ...visit, account, role });
  });
}

async function roleOf({ database }: DashboardDeps, user: User, accountId: string): Promise<Role | null> {
  return (await findRole(database, { userId: user.id, accountId })) ?? (user.operator ? 'read_only' : null);
}

function asUser(visit: Visit): UserVisit {
  const { session } = visit;
  if (session === null) throw new Error(`${visit.path} was reached without a session`);
  return { ...visit, session, user: session.user };
}

const WHO: Readonly<Record<Role, string>> = {
  owner: 'an owner',
  developer: 'an owner or a developer',
  read_only: 'a member',
};

function refuseRole(role: Role, needed: Role): void {
  if (isAtLeast(role, needed)) return;
  throw refused(`Only ${WHO[needed]} of the account may do this. Ask one of its owners.`);
}

function suspended(): MediaError {
  return refused('The account is suspended: nothing may be changed until it is reactivated.');
}

function refused(message: string): MediaError {
  return new MediaError('bad_request', message, { status: 403 });
}
