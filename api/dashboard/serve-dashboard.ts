/**
 * The dashboard below `/dashboard`. Stages of a request: path and method → session → form and its token → role → page
 * or action → frame around a page. Every response has a policy by which browsers load and run only the dashboard's own
 * content.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { loadAssets, type Asset, type Assets } from '#api/dashboard/assets.ts';
import { sessionCookie } from '#api/dashboard/cookies.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { checkFormToken, TOKEN_FIELD } from '#api/dashboard/form-token.ts';
import { renderFrame } from '#api/dashboard/frame.ts';
import { storeNotice, consumeNotice } from '#api/dashboard/notice.ts';
import { problemPage } from '#api/dashboard/problem-page.ts';
import { readForm } from '#api/dashboard/read-form.ts';
import { headerText, readVisit, type DashboardExchange } from '#api/dashboard/read-visit.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { type PageReply, type Route, type RouteReply, type Visit } from '#api/dashboard/route.ts';
import { drainBody } from '#api/http/drain-body.ts';
import { noEndpoint } from '#api/http/request-path.ts';
import { containsNul } from '#api/fields/nul-character.ts';
import { asMediaError } from '#api/http/refusal.ts';
import { tokenDigest } from '#api/users/token.ts';
import { MediaError } from '#crds/contract/media-error.ts';

const ROOT = '/dashboard';
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  // With `no-referrer`, browsers would also hide the origin of forms.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** Adds the dashboard's pages, actions and assets to the server. */
export function serveDashboard(server: FastifyInstance, deps: DashboardDeps, routes: readonly Route[]): void {
  const stopping = new AbortController();
  const dashboard: Dashboard = { deps, assets: loadAssets(), stopping: stopping.signal };
  server.addHook('preClose', async () => stopping.abort());
  const byPath = Map.groupBy(routes, ({ path }) => path);
  for (const [path, methods] of byPath)
    server.all(urlOf(path), (request, reply) => serveRoute(dashboard, methods, { request, reply }));
  server.all(`${ROOT}/*`, (request, reply) => serveRoute(dashboard, [], { request, reply }));
  for (const [path, asset] of dashboard.assets.byPath)
    server.get(urlOf(path), (request, reply) => sendAsset(deps, asset, { request, reply }));
}

function urlOf(path: string): string {
  return path === '/' ? ROOT : ROOT + path;
}

interface Dashboard {
  readonly deps: DashboardDeps;
  readonly assets: Assets;
  readonly stopping: AbortSignal;
}

async function sendAsset(
  deps: DashboardDeps,
  asset: Asset,
  { request, reply }: DashboardExchange,
): Promise<FastifyReply> {
  refuseOtherHost(deps, request);
  const cache = { 'Cache-Control': 'public, max-age=31536000, immutable', 'Content-Type': asset.mediaType };
  return reply.headers({ ...HEADERS, ...cache }).send(asset.body);
}

/** Handles a request by the route of its method. @param routes routes of its path. */
async function serveRoute(
  dashboard: Dashboard,
  routes: readonly Route[],
  { request, reply }: DashboardExchange,
): Promise<FastifyReply> {
  refuseOtherHost(dashboard.deps, request);
  reply.headers(HEADERS);
  const visit = await readVisit(dashboard, pathOf(request), { request, reply });
  try {
    return await send(dashboard, visit, reply, await replyOf(dashboard.deps, routes, { visit, request }));
  } catch (error) {
    if (reply.raw.closed) return reply;
    drainBody(request.raw);
    const shown = asMediaError(dashboard.deps.log, { error, requestId: request.id });
    if (shown.status === 405) reply.header('Allow', 'GET, POST');
    return send(dashboard, visit, reply, problemPage(visit, shown));
  }
}

/** Refuses another host if the dashboard has its own. @throws MediaError not_found */
function refuseOtherHost({ dashboardUrl, baseUrl }: DashboardDeps, request: FastifyRequest): void {
  const own = new URL(dashboardUrl).host;
  if (own === new URL(baseUrl).host || request.headers.host === own) return;
  throw new MediaError('not_found', noEndpoint(request.url));
}

function pathOf({ url }: FastifyRequest): string {
  const path = url.split('?')[0]?.slice(ROOT.length).replace(/\/$/, '') ?? '';
  return path === '' ? '/' : path;
}

async function replyOf(
  deps: DashboardDeps,
  routes: readonly Route[],
  { visit, request }: { visit: Visit; request: FastifyRequest },
): Promise<RouteReply> {
  const params = request.params as Readonly<Record<string, string>>;
  const found = routeOf(routes, params, request.method);
  const form = visit.method === 'POST' ? await readForm(request) : visit.form;
  // Users who are not signed in must not learn which pages exist.
  if (visit.session === null && found?.isPublic !== true) return redirectToSignIn(visit);
  if (found === null) throw notFound();
  if (visit.method === 'POST') refuseForeignForm(deps, visit, { form, request });
  return found.handle(deps, { ...visit, form, params });
}

/** Returns the route of a method; null for an unknown path. @throws MediaError bad_request (405) */
function routeOf(routes: readonly Route[], params: Readonly<Record<string, string>>, method: string): Route | null {
  const isIncomplete = Object.values(params).some((value) => value === '' || containsNul(value));
  if (routes.length === 0 || isIncomplete) return null;
  const found = routes.find((route) => route.method === method);
  if (found === undefined) throw new MediaError('bad_request', `${method} is not supported here.`, { status: 405 });
  return found;
}

function refuseForeignForm(
  { dashboardUrl }: DashboardDeps,
  { formToken }: Visit,
  { form, request }: { form: URLSearchParams; request: FastifyRequest },
): void {
  const { origin, host = '' } = request.headers;
  checkFormToken({
    token: form.get(TOKEN_FIELD),
    expected: formToken,
    origin,
    fetchSite: headerText(request.headers['sec-fetch-site']),
    own: [new URL(dashboardUrl).origin, `https://${host}`],
  });
}

function redirectToSignIn({ method, path, query }: Visit): RouteReply {
  const to = new URLSearchParams({ ended: String(method === 'POST') });
  if (method === 'GET' && path !== '/') to.set('next', query.size === 0 ? path : `${path}?${query.toString()}`);
  return { kind: 'redirect', to: `/sign-in?${to.toString()}` };
}

async function send(
  { deps, assets }: Dashboard,
  visit: Visit,
  reply: FastifyReply,
  routeReply: RouteReply,
): Promise<FastifyReply> {
  switch (routeReply.kind) {
    case 'page':
      return sendPage({ deps, assets }, visit, reply, routeReply);
    case 'file':
      return reply
        .code(200)
        .headers({ ...routeReply.headers })
        .send(routeReply.body);
    case 'redirect': {
      const { session, notice, to } = routeReply;
      if (notice !== undefined) await storeNextNotice(deps, visit, session, notice);
      if (session !== undefined) reply.removeHeader('Set-Cookie').header('Set-Cookie', sessionCookie(session));
      return reply
        .code(303)
        .header('Location', to.startsWith('/') ? `${ROOT}${to === '/' ? '' : to}` : to)
        .send();
    }
  }
}

async function sendPage(
  { deps, assets }: Pick<Dashboard, 'deps' | 'assets'>,
  visit: Visit,
  reply: FastifyReply,
  page: PageReply,
): Promise<FastifyReply> {
  const notice = visit.session === null ? null : await consumeNotice(deps, visit.session);
  const document = await renderFrame(deps, visit, { page, notice, assets });
  return reply
    .code(page.status ?? 200)
    .type('text/html; charset=utf-8')
    .send(document.markup);
}

/** Stores a notice in the session of the next page. */
async function storeNextNotice(
  deps: DashboardDeps,
  visit: Visit,
  newSession: string | null | undefined,
  notice: NonNullable<Extract<RouteReply, { kind: 'redirect' }>['notice']>,
): Promise<void> {
  if (typeof newSession === 'string') return storeNotice(deps, { digest: tokenDigest(newSession) }, notice);
  if (visit.session !== null) await storeNotice(deps, visit.session, notice);
}
