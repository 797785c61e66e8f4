/**
 * The dashboard below `/dashboard`. A request goes: path and method → session → form and its token → who may → the
 * page or action → the frame around a page. Every answer has a policy by which browsers run and load nothing that is
 * not ours.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { loadAssets, type Assets } from '#api/dashboard/assets.ts';
import { SESSION_COOKIE, setCookie } from '#api/dashboard/cookies.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { checkFormToken, TOKEN_FIELD } from '#api/dashboard/form-token.ts';
import { framed } from '#api/dashboard/frame.ts';
import { matchRoutes } from '#api/dashboard/match-route.ts';
import { leaveNotice, readNotice } from '#api/dashboard/notice.ts';
import { problemPage } from '#api/dashboard/problem-page.ts';
import { readForm } from '#api/dashboard/read-form.ts';
import { headerText, readVisit } from '#api/dashboard/read-visit.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { type PageReply, type Reply, type Route, type Visit } from '#api/dashboard/route.ts';
import { drainBody } from '#api/http/drain-body.ts';
import { asMediaError } from '#api/http/refusal.ts';
import { tokenDigest } from '#api/users/token.ts';
import { MediaError } from '#crds/media-error.ts';

const ROOT = '/dashboard';
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  // Without any referrer browsers hide the origin of forms, too.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** Adds the dashboard to the server. */
export function serveDashboard(server: FastifyInstance, deps: DashboardDeps, routes: readonly Route[]): void {
  const stopping = new AbortController();
  const assets = loadAssets();
  const dashboard: Dashboard = { deps, routes, assets, stopping: stopping.signal };
  server.addHook('preClose', async () => stopping.abort());
  for (const url of [ROOT, `${ROOT}/*`]) server.all(url, (request, reply) => answer(dashboard, request, reply));
}

interface Dashboard {
  readonly deps: DashboardDeps;
  readonly routes: readonly Route[];
  readonly assets: Assets;
  readonly stopping: AbortSignal;
}

async function answer(dashboard: Dashboard, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  refuseOtherHost(dashboard.deps, request);
  reply.headers(HEADERS);
  const path = pathOf(request);
  const asset = dashboard.assets.get(path);
  if (asset !== undefined && request.method === 'GET') {
    return reply
      .headers({ 'Cache-Control': 'public, max-age=31536000, immutable', 'Content-Type': asset.mediaType })
      .send(asset.body);
  }
  const visit = await readVisit(dashboard, path, { request, reply });
  try {
    return await send(dashboard, visit, reply, await replyOf(dashboard, visit, request));
  } catch (error) {
    if (reply.raw.closed) return reply;
    drainBody(request.raw);
    const shown = asMediaError(dashboard.deps.log, { error, requestId: request.id });
    if (shown.status === 405) reply.header('Allow', 'GET, POST');
    return send(dashboard, visit, reply, problemPage(visit, shown));
  }
}

/** With an address of its own the dashboard is at no other. */
function refuseOtherHost({ dashboardUrl, baseUrl, docsUrl }: DashboardDeps, request: FastifyRequest): void {
  const own = new URL(dashboardUrl).host;
  if (own === new URL(baseUrl).host || request.headers.host === own) return;
  throw new MediaError('not_found', `There is no endpoint at this path. ${docsUrl} lists them.`);
}

function pathOf({ url }: FastifyRequest): string {
  const path = url.split('?')[0]?.slice(ROOT.length).replace(/\/$/, '') ?? '';
  return path === '' ? '/' : path;
}

async function replyOf({ deps, routes }: Dashboard, visit: Visit, request: FastifyRequest): Promise<Reply> {
  const matched = matchRoutes(routes, visit.path);
  const found = matched.find(({ route }) => route.method === request.method) ?? null;
  if (matched.length > 0 && found === null) {
    throw new MediaError('bad_request', `${request.method} is not supported here.`, { status: 405 });
  }
  const form = visit.method === 'POST' ? await readForm(request) : visit.form;
  // Who is not signed in does not learn which pages there are.
  if (visit.session === null && found?.route.isOpen !== true) return signInFirst(visit);
  if (found === null) throw notFound();
  if (visit.method === 'POST') refuseForeignForm(deps, visit, { form, request });
  return found.route.handle(deps, { ...visit, form, params: found.params });
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

function signInFirst({ method, path, query }: Visit): Reply {
  const to = new URLSearchParams({ ended: String(method === 'POST') });
  if (method === 'GET' && path !== '/') to.set('next', query.size === 0 ? path : `${path}?${query.toString()}`);
  return { kind: 'redirect', to: `/sign-in?${to.toString()}` };
}

async function send(
  { deps, assets }: Dashboard,
  visit: Visit,
  reply: FastifyReply,
  answer: Reply,
): Promise<FastifyReply> {
  switch (answer.kind) {
    case 'page':
      return sendPage({ deps, assets }, visit, reply, answer);
    case 'file':
      return reply
        .code(200)
        .headers({ ...answer.headers })
        .send(answer.body);
    case 'redirect': {
      const { session, notice, cookies = [], to } = answer;
      const set = [...cookies];
      if (session !== undefined) set.push(setCookie(SESSION_COOKIE, session ?? '', session === null ? 0 : undefined));
      if (notice !== undefined) await keep(deps, visit, session, notice);
      if (set.length > 0) reply.header('Set-Cookie', set);
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
  const notice = visit.session === null ? null : await readNotice(deps, visit.session);
  const document = await framed(deps, visit, { page, notice, assets });
  return reply
    .code(page.status ?? 200)
    .type('text/html; charset=utf-8')
    .send(document.markup);
}

/** In the session that the next page is shown in. */
async function keep(
  deps: DashboardDeps,
  visit: Visit,
  newSession: string | null | undefined,
  notice: NonNullable<Extract<Reply, { kind: 'redirect' }>['notice']>,
): Promise<void> {
  if (typeof newSession === 'string') return leaveNotice(deps, { digest: tokenDigest(newSession) }, notice);
  if (visit.session !== null) await leaveNotice(deps, visit.session, notice);
}
