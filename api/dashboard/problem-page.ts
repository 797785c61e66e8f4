import { html } from '#api/dashboard/html.ts';
import type { PageReply, Visit } from '#api/dashboard/route.ts';
import { prose } from '#api/dashboard/format-values.ts';
import type { MediaError } from '#crds/contract/media-error.ts';

const TITLES: ReadonlyMap<number, string> = new Map([
  [403, 'Not allowed'],
  [404, 'Not found'],
  [429, 'Too many attempts'],
  [500, 'Something failed'],
]);

/** Returns the page of a refusal that no form displays. */
export function problemPage(visit: Pick<Visit, 'id'>, error: MediaError): PageReply {
  const status = error.status ?? 500;
  const title = TITLES.get(status) ?? 'This did not work';
  return {
    kind: 'page',
    status,
    title,
    body: html`<h1>${title}</h1>
      <p>${prose(error.message)}</p>
      <p><a href="/dashboard">To the start page</a></p>
      <p class="hint">Request <code>${visit.id}</code></p>`,
  };
}
