/**
 * HTML templates that escape every value except markup of other templates. Attribute values must be in double quotes.
 * Invisible characters, such as a direction override in a file name, are shown as their codes.
 */
import { escapeHtml } from '#crds/process/escape-html.ts';
import { visibleText } from '#crds/process/visible-text.ts';

/** Markup that needs no escaping. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

/** Values of a template. null and false are omitted. */
export type Content = Html | string | number | null | false | readonly Content[];

/** Returns the markup of a template, with escaped values. */
export function html(texts: TemplateStringsArray, ...values: readonly Content[]): Html {
  return new Html(String.raw({ raw: texts }, ...values.map((value) => markupOf(value))));
}

/** Returns a boolean attribute, such as `disabled`, or null. */
export function flag(name: string, isOn: boolean): Html | null {
  return isOn ? html` ${name}` : null;
}

/** Returns escaped text with its invisible characters, for a field that sends it back. */
export function verbatim(text: string): Html {
  return new Html(escapeHtml(text));
}

function markupOf(content: Content): string {
  if (content === null || content === false) return '';
  if (content instanceof Html) return content.markup;
  if (typeof content === 'object') return content.map((part) => markupOf(part)).join('');
  return escapeHtml(visibleText(String(content)));
}
