import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { EMPTY_FORM, field, formAction, postForm } from '#api/dashboard/form.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { forMember, type AccountVisit, type PageReply, type Route } from '#api/dashboard/route.ts';
import { verifyReceipt } from '#api/receipts/verify-receipt.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Page that verifies a receipt of any job. */
export const receiptRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/receipts', { needs: 'read_only' }, receiptPage),
  forMember(
    'POST',
    '/accounts/:account/receipts',
    { needs: 'read_only', whileSuspended: true },
    formAction({ work: verifiedPage, page: receiptPage, fields: ['receipt'] }),
  ),
];

async function verifiedPage(deps: DashboardDeps, visit: AccountVisit): Promise<PageReply> {
  return receiptPage(deps, visit, { values: visit.form, problems: {} }, verifiedReceipt(deps, visit));
}

function verifiedReceipt({ receiptKeys }: DashboardDeps, { form }: AccountVisit): Html {
  const found = verifyReceipt(receiptKeys, jwsOf(form.get('receipt') ?? ''));
  if (found === null) {
    throw new MediaError('bad_request', 'No key of this service signed this text, or it was altered.', {
      param: 'receipt',
    });
  }
  return html`<section class="notice" role="status">
    <p>Valid: signed with the key <code>${found.keyId}</code>. It says:</p>
    <pre tabindex="0">${JSON.stringify(JSON.parse(found.payload), null, 2)}</pre>
  </section>`;
}

/** Returns the JWS of a receipt in JSON; other text unchanged. */
function jwsOf(text: string): string {
  try {
    const { jws } = JSON.parse(text) as { jws?: unknown };
    return typeof jws === 'string' ? jws : '';
  } catch {
    return text;
  }
}

function receiptPage(
  { docsUrl }: DashboardDeps,
  visit: AccountVisit,
  form = EMPTY_FORM,
  verdict: Html | null = null,
): PageReply {
  const hint = 'The JSON file, or its “jws” alone.';
  const body = field(form, { name: 'receipt', label: 'Receipt', hint, rows: 8 });
  return {
    kind: 'page',
    title: 'Check a receipt',
    body: html`<h1>Check a receipt</h1>
      ${verdict}
      <div class="card">
        ${postForm(visit, { action: `/accounts/${visit.account.id}/receipts`, form, body, button: 'Check' })}
      </div>
      <p class="hint">How to check one without us: <a href="${docsUrl}/reference/receipts">Receipts</a>.</p>`,
  };
}
