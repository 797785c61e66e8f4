import type { FastifyReply, FastifyRequest } from 'fastify';
import { readCookies, SESSION_COOKIE, setCookie, VISITOR_COOKIE } from '#api/dashboard/cookies.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { formTokenOf } from '#api/dashboard/form-token.ts';
import type { Visit } from '#api/dashboard/route.ts';
import { clientAddress } from '#api/http/request-address.ts';
import { openSession } from '#api/users/session.ts';
import { newToken } from '#api/users/token.ts';

interface VisitDeps {
  readonly deps: DashboardDeps;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The request as pages see it, before its route and form are known. @param path below the dashboard. */
export async function readVisit(
  { deps, stopping }: VisitDeps,
  path: string,
  { request, reply }: Exchange,
): Promise<Visit> {
  const cookies = readCookies(request.headers.cookie);
  return {
    id: request.id,
    method: request.method === 'POST' ? 'POST' : 'GET',
    path,
    params: {},
    query: new URL(request.raw.url ?? '/', 'https://localhost').searchParams,
    form: new URLSearchParams(),
    cookies,
    address: addressOf(deps, request),
    agent: request.headers['user-agent'] ?? '',
    signal: AbortSignal.any([goneSignal(reply), stopping]),
    ...(await sessionsOf(deps, cookies)),
    formToken: formTokenOf(cookies.get(SESSION_COOKIE) ?? cookies.get(VISITOR_COOKIE) ?? visitorOf(reply)),
  };
}

/** Repeated headers as one. */
export function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value;
}

function addressOf({ trustedProxies }: DashboardDeps, { raw, headers }: FastifyRequest): string {
  const peer = raw.socket.remoteAddress ?? '';
  const forwardedFor = headerText(headers['x-forwarded-for']);
  return clientAddress(trustedProxies, { peer, forwardedFor, forwardedProto: undefined });
}

function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  return gone.signal;
}

async function sessionsOf(
  deps: DashboardDeps,
  cookies: ReadonlyMap<string, string>,
): Promise<Pick<Visit, 'session' | 'pending'>> {
  const found = await openSession(deps, cookies.get(SESSION_COOKIE) ?? null);
  if (found === null) return { session: null, pending: null };
  return found.secondStepDue ? { session: null, pending: found } : { session: found, pending: null };
}

/** Binds the forms of a browser that comes for the first time. */
function visitorOf(reply: FastifyReply): string {
  const token = newToken();
  reply.header('Set-Cookie', setCookie(VISITOR_COOKIE, token));
  return token;
}
