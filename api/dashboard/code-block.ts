import { html, type Html } from '#api/dashboard/html.ts';
import { icon } from '#api/dashboard/icons.ts';

interface CodeBlock {
  /** Unique in the page. */
  readonly id: string;
  readonly code: string;
  /** Text beside the button. */
  readonly label?: string;
}

/** Returns code with a button above it that copies it. */
export function codeBlock({ id, code, label = '' }: CodeBlock): Html {
  return html`<div class="code">
    <p><span>${label}</span><button type="button" class="copy" data-copy="${id}">${icon('copy')} Copy</button></p>
    <pre id="${id}" tabindex="0">${code}</pre>
  </div>`;
}
