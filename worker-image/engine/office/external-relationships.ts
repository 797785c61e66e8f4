/**
 * Removes external relationships from an Office Open XML package. LibreOffice embeds linked images and objects of its
 * own machine into presentations.
 */
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { attributeText, CLICK_ONLY, refuseUnusualXml } from '#worker-image/engine/office/external-links.ts';

const ATTRIBUTE = /(?<=\s)(Target|TargetMode|Type)(\s*=\s*)("[^"]*"|'[^']*')/g;

/** Empties the external targets in a list of relationships. @throws MediaError processing_failed for XML that no office program writes. */
export async function* removeExternalRelationships(bytes: Readable): AsyncGenerator<string> {
  const xml = await text(bytes);
  refuseUnusualXml(xml);
  // No attribute value contains `<`, so each piece has the attributes of one element.
  yield xml.split('<').map(cleanElement).join('<');
}

function cleanElement(element: string): string {
  const values = new Map<string, string>();
  for (const [, name = '', , quoted = ''] of element.matchAll(ATTRIBUTE))
    values.set(name, attributeText(quoted.slice(1, -1)));
  if (!isExternal(values)) return element;
  return element.replaceAll(ATTRIBUTE, (whole, name: string, equals: string) =>
    name === 'Target' ? `${name}${equals}""` : whole,
  );
}

/** Returns whether the target is neither a part of the package nor a click-only address. */
function isExternal(values: ReadonlyMap<string, string>): boolean {
  const target = values.get('Target') ?? '';
  const isPart = (values.get('TargetMode') ?? 'internal') === 'internal' && !/[:\\?|]|^\/\//.test(target);
  const isClick =
    (values.get('Type') ?? '').endsWith('/hyperlink') && (CLICK_ONLY.test(target) || target.startsWith('#'));
  return target !== '' && !isPart && !isClick;
}
