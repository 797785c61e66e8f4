import { selectKeys } from '#api/accounts/key-rows.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { isAtLeast } from '#api/users/user.ts';
import { forMember, type AccountVisit, type PageReply, type Route } from '#api/dashboard/route.ts';

/** Page with examples of requests. */
export const quickStartRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/quick-start', { needs: 'read_only' }, quickStart),
];

async function quickStart({ database, baseUrl, docsUrl }: DashboardDeps, visit: AccountVisit): Promise<PageReply> {
  const { account } = visit;
  const base = `/dashboard/accounts/${account.id}`;
  const active = (await selectKeys(database, account.id)).filter(({ revokedAt }) => revokedAt === null);
  const test = active.find(({ livemode }) => !livemode)?.hint ?? null;
  const live = active.find(({ livemode }) => livemode)?.hint ?? null;
  return {
    kind: 'page',
    title: `Quick start – ${account.name}`,
    body: html`<h1>Quick start</h1>
      <h2>1. A key</h2>
      ${keyStep({ base, test, live, mayCreate: isAtLeast(visit.role, 'developer') && !account.suspended })}
      <h2>2. A direct request</h2>
      <p>
        Images, PDFs, audio, tables and fonts up to 25 MB: the file is the request body, the result is the response
        body. A test key accepts the <a href="${base}/samples">published samples</a>.
      </p>
      ${commands(
        'direct',
        [
          `key=${test ?? 'svc_test_…'}   # the whole key`,
          `curl -sSO --fail-with-body ${docsUrl}/samples/photo.jpg`,
          `curl -sS --fail-with-body -H "Authorization: Bearer $key" --data-binary @photo.jpg \\`,
          `  "${baseUrl}/v1/compress?filename=photo.jpg" -o smaller.jpg`,
        ].join('\n'),
      )}
      <h2 id="jobs">3. A job</h2>
      <p>
        For all other kinds and for large files: send a URL, poll the job or use a
        <a href="${base}/webhooks">webhook</a>, then download the result.
      </p>
      ${commands(
        'job',
        [
          `key=${live ?? 'svc_live_…'}   # the whole key`,
          `curl -sS --fail-with-body -H "Authorization: Bearer $key" ${baseUrl}/v1/jobs \\`,
          `  -d '{"operation": "convert", "input": {"url": "https://example.com/report.docx"}, "options": {"convert": {"to": "pdf"}}}'`,
        ].join('\n'),
      )}
      <p>
        Then look at it under <a href="${base}/jobs">jobs</a>. All of it is in the
        <a href="${docsUrl}">documentation</a>.
      </p>`,
  };
}

interface KeyStep {
  readonly base: string;
  readonly test: string | null;
  readonly live: string | null;
  readonly mayCreate: boolean;
}

function keyStep({ base, test, live, mayCreate }: KeyStep): Html {
  const hints = [test, live].filter((hint) => hint !== null);
  if (hints.length === 0 && !mayCreate)
    return html`<p class="empty">The account has no key yet. Its owners and developers create keys.</p>`;
  if (hints.length === 0)
    return html`<p class="empty">
      You have no key yet. <a href="${base}/keys">Create one</a>: a test key costs nothing.
    </p>`;
  return html`<p>
    You have ${hints.map((hint, index) => html`${index > 0 && ' and '}<code>${hint}</code>`)}.
    <a href="${base}/keys">All keys</a>
  </p>`;
}

function commands(id: string, text: string): Html {
  return html`<div class="commands">
    <pre id="${id}" tabindex="0">${text}</pre>
    <button type="button" data-copy="${id}">Copy</button>
  </div>`;
}
