/** Counts the elements of OpenDocument content whose style hides them: sheets of workbooks, slides of presentations. */
import type { Readable } from 'node:stream';
import { wholeTags } from '#worker-image/engine/office/document-parts.ts';

interface HidingStyle {
  /** Element with a style. */
  readonly element: string;
  /** Its attribute with the name of the style. */
  readonly attribute: string;
  /** Element of a style with the attribute that hides. */
  readonly properties: string;
  readonly hidden: RegExp;
  /** Name of a style that does not count. */
  readonly except?: string;
}

const STYLE = 'style:style';

/** Returns a function that counts the elements. The styles precede them. */
export function hiddenElementCounter(hiding: HidingStyle): (part: Readable) => Promise<number> {
  const tags = new RegExp(`<(${[STYLE, hiding.properties, hiding.element].join('|')})\\s([^<>]*)>`, 'g');
  return async (part) => {
    const styles = new Set<string>();
    let [style, count] = ['', 0];
    for await (const xml of wholeTags(part)) {
      for (const [, tag, attributes = ''] of xml.matchAll(tags)) {
        if (tag === STYLE) style = attribute(attributes, 'style:name');
        else if (tag === hiding.element) count += Number(styles.has(attribute(attributes, hiding.attribute)));
        else if (hiding.hidden.test(attributes) && style !== hiding.except) styles.add(style);
      }
    }
    return count;
  };
}

function attribute(attributes: string, name: string): string {
  return new RegExp(`\\b${name}\\s*=\\s*["']([^"']*)["']`).exec(attributes)?.[1] ?? '';
}
