import { html, type Content, type Html } from '#api/dashboard/html.ts';

/** Name, value, and a smaller text below it. */
type Figure = readonly [name: string, value: Content, detail?: Content];

/** Returns cards with a figure each. */
export function figures(all: readonly Figure[]): Html {
  return html`<dl class="figures">
    ${all.map(
      ([name, value, detail = null]) =>
        html`<div>
          <dt>${name}</dt>
          <dd class="figure">${value}</dd>
          ${detail !== null && html`<dd class="detail">${detail}</dd>`}
        </div>`,
    )}
  </dl>`;
}
