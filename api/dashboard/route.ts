/**
 * A page or an action of the dashboard: one method of one path, and the role that it needs. Actions call the functions
 * that the API and `mediactl` use.
 */
import type { Readable } from 'node:stream';
import type { Account } from '#api/accounts/account.ts';
import { findAccount } from '#api/accounts/account-rows.ts';
import type { Spending } from '#api/billing/ledger-rows.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import type { Html } from '#api/dashboard/html.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { findRole } from '#api/users/membership-rows.ts';
import type { Session } from '#api/users/session.ts';
import { isAtLeast, type Role, type User } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** A request to the dashboard. */
export interface Visit {
  /** Id of the request, `req_…`. */
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** Path below the dashboard, such as `/sign-in`. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Fields of a POST with a valid form token; empty otherwise. */
  readonly form: URLSearchParams;
  /** SHA-256 of the browser's cookie, with or without a session. */
  readonly browser: Buffer;
  readonly address: string;
  readonly agent: string;
  /** Aborts when the browser disconnects or the service shuts down. */
  readonly signal: AbortSignal;
  /** Session of the signed-in user; null without one. */
  readonly session: Session | null;
  /** Session whose second step is due; null without one. */
  readonly pending: Session | null;
  /** Token that a POST of this browser must contain. */
  readonly formToken: string;
}

/** A request of a signed-in user. */
export interface UserVisit extends Visit {
  readonly session: Session;
  readonly user: User;
}

/** A request to the pages of an account. */
export interface AccountVisit extends UserVisit {
  readonly account: Account;
  /** Role of the member; `read_only` for an operator who is not a member. */
  readonly role: Role;
  /** Whether the user is a member. An operator who is not sees no links to the account's files. */
  readonly isMember: boolean;
}

/** A message that the next page shows once. */
export interface Notice {
  readonly text: string;
  /** `bad` for an action that failed; `good` by default. */
  readonly tone?: 'good' | 'bad';
  /** A key or signing secret that nobody can read again. */
  readonly secret?: { readonly label: string; readonly value: string };
}

export interface PageReply {
  readonly kind: 'page';
  readonly status?: number;
  readonly title: string;
  readonly body: Html;
  /** Spending of the account in this month, where the page has read it. */
  readonly spending?: Spending;
  /** Script of this page, in addition to that of every page. */
  readonly script?: 'playground.js';
}

export type RouteReply =
  | PageReply
  | {
      readonly kind: 'redirect';
      /** Path below the dashboard, or a URL. */
      readonly to: string;
      readonly notice?: Notice;
      /** Token of a new session; null signs the browser out. */
      readonly session?: string | null;
    }
  | {
      readonly kind: 'file';
      readonly body: Buffer | Readable | string;
      readonly headers: Readonly<Record<string, string | number>>;
    };

export interface Route {
  readonly method: 'GET' | 'POST';
  /** Path with `:name` for parameters. */
  readonly path: `/${string}`;
  /** Whether the route needs no signed-in user. */
  readonly isPublic: boolean;
  readonly handle: (deps: DashboardDeps, visit: Visit) => Promise<RouteReply>;
}

type Handle<V> = (deps: DashboardDeps, visit: V) => Promise<RouteReply> | RouteReply;
type Path = `/${string}`;
type Method = Route['method'];

/** Returns a route that needs no signed-in user. */
export function forAnyone(method: Method, path: Path, handle: Handle<Visit>): Route {
  return { method, path, isPublic: true, handle: async (deps, visit) => handle(deps, visit) };
}

/** Returns a route for signed-in users. */
export function forUser(method: Method, path: Path, handle: Handle<UserVisit>): Route {
  return { method, path, isPublic: false, handle: async (deps, visit) => handle(deps, asUserVisit(visit)) };
}

/** Returns a route for operators; for others it does not exist. */
export function forOperator(method: Method, path: Path, handle: Handle<UserVisit>): Route {
  return forUser(method, path, (deps, visit) => {
    if (!visit.user.operator) throw notFound();
    return handle(deps, visit);
  });
}

interface AccountRule {
  readonly needs: Role;
  /** Whether the action is allowed while the account is suspended, such as revoking a key. */
  readonly whileSuspended?: true;
}

/** Returns a route below `/accounts/:account`. An account of which the user is not a member is not found. */
export function forMember(
  method: Method,
  path: `/accounts/:account${string}`,
  rule: AccountRule,
  handle: Handle<AccountVisit>,
): Route {
  return forUser(method, path, async (deps, visit) => {
    const account = await findAccount(deps.database, visit.params['account'] ?? '');
    const own =
      account === null ? null : await findRole(deps.database, { userId: visit.user.id, accountId: account.id });
    const role = own ?? (visit.user.operator ? 'read_only' : null);
    if (account === null || role === null) throw notFound();
    refuseRole(role, rule.needs);
    if (method === 'POST' && account.suspended && rule.whileSuspended !== true) throw suspendedError();
    return handle(deps, { ...visit, account, role, isMember: own !== null });
  });
}

function asUserVisit(visit: Visit): UserVisit {
  const { session } = visit;
  if (session === null) throw new Error(`${visit.path} was reached without a session`);
  return { ...visit, session, user: session.user };
}

const ROLE_PHRASES: Readonly<Record<Role, string>> = {
  owner: 'an owner',
  developer: 'an owner or a developer',
  read_only: 'a member',
};

function refuseRole(role: Role, needed: Role): void {
  if (isAtLeast(role, needed)) return;
  throw forbiddenError(`Only ${ROLE_PHRASES[needed]} of the account may do this. Ask one of its owners.`);
}

function suspendedError(): MediaError {
  return forbiddenError('The account is suspended: nothing may be changed until it is reactivated.');
}

function forbiddenError(message: string): MediaError {
  return new MediaError('bad_request', message, { status: 403 });
}
