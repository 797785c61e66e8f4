import { selectKeys } from '#api/accounts/key-rows.ts';
import { codeBlock } from '#api/dashboard/code-block.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { isAtLeast } from '#api/users/user.ts';
import { forMember, type AccountVisit, type PageReply, type Route } from '#api/dashboard/route.ts';

/** Page with examples of requests. */
export const quickStartRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/quick-start', { needs: 'read_only' }, quickStart),
];

async function quickStart(deps: DashboardDeps, visit: AccountVisit): Promise<PageReply> {
  const { account } = visit;
  const { database, docsUrl } = deps;
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
      ${codeBlock({ id: 'direct', label: 'Shell', code: directCommands(deps, test ?? live) })}
      <h2 id="jobs">3. A job</h2>
      <p>
        For all other kinds and for large files: upload, create the job, wait for its end, download the result. It needs
        <code>jq</code>. Sample files and test keys are free.
      </p>
      ${codeBlock({ id: 'job', label: 'Shell', code: jobCommands(deps, test ?? live) })}
      <p>The job is then under <a href="${base}/jobs${test === null ? '' : '?mode=test'}">Jobs</a>, with its result.</p>
      <h2 id="webhooks">4. A webhook</h2>
      <p>
        Instead of asking for the state of a job, receive a signed event when it ends: add your address under
        <a href="${base}/webhooks">Webhooks</a> and send it a test event.
        <a href="${docsUrl}/guides/webhooks-on-a-laptop">Webhooks on a laptop</a> has a receiver that checks the
        signature.
      </p>
      <p>Options, limits and all endpoints are in the <a href="${docsUrl}">documentation</a>.</p>`,
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

function directCommands({ baseUrl, docsUrl }: DashboardDeps, hint: string | null): string {
  return [
    keyLine(hint),
    `curl -sSO --fail-with-body ${docsUrl}/samples/photo.jpg`,
    `curl -sS --fail-with-body -H "Authorization: Bearer $key" --data-binary @photo.jpg \\`,
    `  "${baseUrl}/v1/compress?filename=photo.jpg" -o smaller.jpg`,
  ].join('\n');
}

function jobCommands({ baseUrl, docsUrl }: DashboardDeps, hint: string | null): string {
  return [
    keyLine(hint),
    `url=${baseUrl}`,
    `curl -sSO --fail-with-body ${docsUrl}/samples/report.pdf`,
    'call() { curl -sS --fail-with-body -H "Authorization: Bearer $key" "$@"; }',
    'upload=$(call "$url/v1/uploads" -d "{\\"size\\": $(stat -c %s report.pdf), \\"filename\\": \\"report.pdf\\"}")',
    'call -T report.pdf "$(jq -r .url <<<"$upload")" -o /dev/null',
    'job=$(call "$url/v1/jobs" \\',
    '  -d "{\\"operation\\": \\"compress\\", \\"input\\": {\\"upload\\": \\"$(jq -r .id <<<"$upload")\\"}}" | jq -r .id)',
    'for second in {1..60}; do',
    '  status=$(call "$url/v1/jobs/$job" | jq -r .status)',
    '  case $status in succeeded | failed | canceled) break ;; esac',
    '  sleep 1',
    'done',
    'curl -sS --fail-with-body -o smaller.pdf "$(call "$url/v1/jobs/$job" | jq -r .result.download_url)"',
  ].join('\n');
}

function keyLine(hint: string | null): string {
  return `key=${hint ?? 'svc_test_…'}   # replace it by your whole key, which was shown once`;
}
