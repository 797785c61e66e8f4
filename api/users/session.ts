/**
 * Sessions of the dashboard.
 *
 *   (none) ──password right, second step on──→ second step due ──code right──→ (a new session, signed in)
 *     └──password right, link used, identity provider──→ signed in ──12 h, or 1 h without a request──→ gone
 *                                                           └── sign-out, revoked, password changed ──→ gone
 *
 * The cookie holds a random token, the database its SHA-256.
 */
import type { Queryable } from '#api/store/database.ts';
import { findSession, forgetSessions, insertSession, setSeen, type FoundSession } from '#api/users/session-rows.ts';
import { newToken, tokenDigest } from '#api/users/token.ts';
import type { Clock } from '#crds/shared/clock.ts';

interface SessionDeps {
  readonly database: Queryable;
  readonly clock: Clock;
}

const MINUTE_MS = 60 * 1000;
const LASTS_MS = 12 * 60 * MINUTE_MS;
const SECOND_STEP_MS = 10 * MINUTE_MS;
const IDLE_MS = 60 * MINUTE_MS;
const NOTED_EVERY_MS = MINUTE_MS;
const MOST_AGENT = 200;

export interface Session extends FoundSession {
  readonly digest: Buffer;
}

interface Visitor {
  readonly address: string;
  readonly agent: string;
}

/** A new session; gives the cookie's token. */
export async function startSession(
  { database, clock }: SessionDeps,
  { userId, secondStepDue, visitor }: { userId: string; secondStepDue: boolean; visitor: Visitor },
): Promise<string> {
  const token = newToken();
  const createdAt = clock.now();
  await forgetSessions(database, createdAt);
  await insertSession(database, {
    digest: tokenDigest(token),
    userId,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + (secondStepDue ? SECOND_STEP_MS : LASTS_MS)),
    secondStepDue,
    address: visitor.address,
    agent: visitor.agent.slice(0, MOST_AGENT),
  });
  return token;
}

/** null when the token names no session that still works. */
export async function openSession({ database, clock }: SessionDeps, token: string | null): Promise<Session | null> {
  if (token === null) return null;
  const now = clock.now();
  const digest = tokenDigest(token);
  const found = await findSession(database, digest, { now, seenAfter: seenAfter(now) });
  if (found === null) return null;
  if (now.getTime() - found.seenAt.getTime() > NOTED_EVERY_MS) await setSeen(database, digest, now);
  return { ...found, digest };
}

/** A session without a request since then has ended. */
export function seenAfter(now: Date): Date {
  return new Date(now.getTime() - IDLE_MS);
}
