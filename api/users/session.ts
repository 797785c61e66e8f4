/**
 * Sessions of the dashboard.
 *
 *   (none) ──password right, second step on──→ second step due ──code right──→ (a new session, signed in)
 *     └──password right, link used, identity provider──→ signed in ──12 h, or 1 h without a request──→ expired
 *                                                           └── sign-out, revoked, password changed ──→ deleted
 *
 * The cookie contains a random token, the database its SHA-256. A session stores the user's `generation`, the number of
 * changes of password and second step. So the next change ends it even when no code deletes it.
 */
import { recordAudit, type PersonActor } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import type { Queryable } from '#api/store/database.ts';
import {
  deleteSession,
  deleteSessionsOf,
  findSession,
  forgetSessions,
  insertSession,
  selectSessions,
  setSeen,
  type FoundSession,
} from '#api/users/session-rows.ts';
import { newToken, tokenDigest } from '#api/users/token.ts';
import type { User } from '#api/users/user.ts';
import type { Clock } from '#crds/process/clock.ts';

interface SessionDeps {
  readonly database: Queryable;
  readonly clock: Clock;
}

const MINUTE_MS = 60 * 1000;
const LIFETIME_MS = 12 * 60 * MINUTE_MS;
const SECOND_STEP_MS = 10 * MINUTE_MS;
const IDLE_MS = 60 * MINUTE_MS;
/** Minimum interval between updates of a session's last request, in milliseconds. */
const SEEN_INTERVAL_MS = MINUTE_MS;
const MAX_AGENT_LENGTH = 200;

export interface Session extends FoundSession {
  readonly digest: Buffer;
}

interface Visitor {
  readonly address: string;
  readonly agent: string;
}

interface NewSignIn {
  readonly user: Pick<User, 'id' | 'email' | 'generation'>;
  /** Method of the sign-in, such as `password`; null while the second step is due. */
  readonly how: string | null;
}

/**
 * Starts a session. Returns the cookie's token. The session is bound to the user as read when the password was checked.
 * If the password was changed since then, the session has ended already.
 */
export async function startSession(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { caller: { address, agent }, input: { user, how } }: { caller: Visitor; input: NewSignIn },
): Promise<string> {
  const token = newToken();
  const createdAt = clock.now();
  const session = {
    digest: tokenDigest(token),
    userId: user.id,
    generation: user.generation,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + (how === null ? SECOND_STEP_MS : LIFETIME_MS)),
    secondStepDue: how === null,
    address,
    agent: agent.slice(0, MAX_AGENT_LENGTH),
  };
  await database.transaction(async (tx) => {
    await forgetSessions(tx, createdAt);
    await insertSession(tx, session);
    if (how === null) return;
    const change = { at: createdAt, action: `sign_in.${how}`, target: null, accountId: null };
    await recordAudit(tx, { kind: 'person', user, address }, change);
  });
  return token;
}

interface EndedSessions {
  /** Digest of the session that makes the change. */
  readonly own: Buffer;
  /** Digest in base64url of the session to end, or `others` for all but the own. */
  readonly ended: string;
}

/** Ends one session of the person, or all other ones. Idempotent. */
export async function endSessions(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { caller, input: { own, ended } }: { caller: PersonActor; input: EndedSessions },
): Promise<void> {
  const { user } = caller;
  const now = clock.now();
  await database.transaction(async (tx) => {
    if (ended === 'others') await deleteSessionsOf(tx, user.id, own);
    else {
      const sessions = await selectSessions(tx, user.id, { now, seenAfter: seenAfter(now) });
      const named = sessions.find(({ digest }) => digest.toString('base64url') === ended);
      if (named !== undefined) await deleteSession(tx, named.digest);
    }
    await recordAudit(tx, caller, { at: now, action: 'session.end', target: user.email, accountId: null });
  });
}

/** Returns the session of a cookie's token; null when it is unknown or has ended. */
export async function openSession({ database, clock }: SessionDeps, token: string | null): Promise<Session | null> {
  if (token === null) return null;
  const now = clock.now();
  const digest = tokenDigest(token);
  const found = await findSession(database, digest, { now, seenAfter: seenAfter(now) });
  if (found === null) return null;
  if (now.getTime() - found.seenAt.getTime() > SEEN_INTERVAL_MS) await setSeen(database, digest, now);
  return { ...found, digest };
}

/** Returns the idle limit: a session without a request since that time has ended. */
export function seenAfter(now: Date): Date {
  return new Date(now.getTime() - IDLE_MS);
}
