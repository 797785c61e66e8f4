import { html, type Html } from '#api/dashboard/html.ts';

/** Live unless the query says test. */
export function isLive(query: URLSearchParams): boolean {
  return query.get('mode') !== 'test';
}

/** Links between what live and what test keys did. @param path below the dashboard. */
export function modeSwitch(path: string, live: boolean): Html {
  const link = (mode: 'live' | 'test', isCurrent: boolean): Html =>
    html`<a href="/dashboard${path}?mode=${mode}" ${isCurrent && html`aria-current="true"`}>${mode}</a>`;
  return html`<nav class="tabs" aria-label="Mode">${link('live', live)} ${link('test', !live)}</nav>`;
}
