import type { FastifyReply, FastifyRequest } from 'fastify';
import { readSessionCookie, sessionCookie } from '#api/dashboard/cookies.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { formTokenOf } from '#api/dashboard/form-token.ts';
import type { Visit } from '#api/dashboard/route.ts';
import { clientAddress } from '#api/http/request-address.ts';
import { openSession } from '#api/users/session.ts';
import { newToken, tokenDigest } from '#api/users/token.ts';

interface VisitDeps {
  readonly deps: DashboardDeps;
  /** Aborts when the service shuts down. */
  readonly stopping: AbortSignal;
}

export interface DashboardExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Returns the request for its route, without parameters and form. @param path path below the dashboard. */
export async function readVisit(
  { deps, stopping }: VisitDeps,
  path: string,
  { request, reply }: DashboardExchange,
): Promise<Visit> {
  const given = readSessionCookie(request.headers.cookie);
  const token = given ?? issueToken(reply);
  return {
    id: request.id,
    method: request.method === 'POST' ? 'POST' : 'GET',
    path,
    params: {},
    query: new URL(request.raw.url ?? '/', 'https://localhost').searchParams,
    form: new URLSearchParams(),
    browser: tokenDigest(token),
    address: addressOf(deps, request),
    agent: request.headers['user-agent'] ?? '',
    signal: AbortSignal.any([disconnectSignal(reply), stopping]),
    ...(await sessionsOf(deps, given)),
    formToken: formTokenOf(token),
  };
}

/** Returns the value of a header; repeated headers are joined by commas. */
export function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value;
}

function addressOf({ trustedProxies }: DashboardDeps, { raw, headers }: FastifyRequest): string {
  const peer = raw.socket.remoteAddress ?? '';
  const forwardedFor = headerText(headers['x-forwarded-for']);
  return clientAddress(trustedProxies, { peer, forwardedFor, forwardedProto: undefined });
}

function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const disconnected = new AbortController();
  raw.once('close', () => disconnected.abort());
  return disconnected.signal;
}

async function sessionsOf(deps: DashboardDeps, token: string | null): Promise<Pick<Visit, 'session' | 'pending'>> {
  const found = await openSession(deps, token);
  if (found === null) return { session: null, pending: null };
  return found.secondStepDue ? { session: null, pending: found } : { session: found, pending: null };
}

/** Sets a new token as cookie, to which forms and sign-ins at the provider are bound, and returns it. */
function issueToken(reply: FastifyReply): string {
  const token = newToken();
  reply.header('Set-Cookie', sessionCookie(token));
  return token;
}
