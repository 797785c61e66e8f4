import { flag, html, type Content, type Html } from '#api/dashboard/html.ts';

interface Details {
  readonly summary: Content;
  readonly body: Content;
  readonly isOpen?: boolean;
  /** Of several with the same group only one is open. */
  readonly group?: string;
}

/** Returns a text that opens and closes what it names, without scripts. */
export function details({ summary, body, isOpen = false, group }: Details): Html {
  return html`<details class="fold" ${group !== undefined && html`name="${group}"`} ${flag('open', isOpen)}>
    <summary>${summary}</summary>
    ${body}
  </details>`;
}
