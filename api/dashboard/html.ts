/** Markup in which every value is text unless it is markup itself. Attributes must stand in double quotes. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

/** What may stand in a template. Nothing is written for null and false. */
export type Content = Html | string | number | null | false | readonly Content[];

export function html(texts: TemplateStringsArray, ...values: readonly Content[]): Html {
  return new Html(String.raw({ raw: texts }, ...values.map((value) => markupOf(value))));
}

/** An attribute that is there or not, such as `disabled`. */
export function flag(name: string, isOn: boolean): Html | null {
  return isOn ? html` ${name}` : null;
}

function markupOf(content: Content): string {
  if (content === null || content === false) return '';
  if (content instanceof Html) return content.markup;
  if (typeof content === 'object') return content.map((part) => markupOf(part)).join('');
  return escaped(String(content));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
