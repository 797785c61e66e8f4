import { html, type Html } from '#api/dashboard/html.ts';

/** Returns whether a page shows live mode, the default. */
export function isLive(query: URLSearchParams): boolean {
  return query.get('mode') !== 'test';
}

/** Returns links to the live and the test mode of a page. @param path path of the page below the dashboard. */
export function modeSwitch(path: string, live: boolean): Html {
  const link = (mode: 'live' | 'test', isCurrent: boolean): Html =>
    html`<a href="/dashboard${path}?mode=${mode}" ${isCurrent && html`aria-current="true"`}>${mode}</a>`;
  return html`<nav class="tabs" aria-label="Mode">${link('live', live)} ${link('test', !live)}</nav>`;
}
