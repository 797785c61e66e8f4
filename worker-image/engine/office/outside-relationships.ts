/**
 * Relationships of an Office Open XML package that leave it. LibreOffice puts linked pictures and objects of the
 * machine it runs on into presentations.
 */
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { attributeText, CLICKED, refuseStrangeXml } from '#worker-image/engine/office/outside-links.ts';

const ATTRIBUTE = /(?<=\s)(Target|TargetMode|Type)(\s*=\s*)("[^"]*"|'[^']*')/g;

/** A list of relationships without the addresses that lead outside. @throws MediaError processing_failed for XML that no office program writes. */
export async function* withoutOutsideRelationships(bytes: Readable): AsyncGenerator<string> {
  const xml = await text(bytes);
  refuseStrangeXml(xml);
  // No attribute holds this character, so that each piece has the attributes of one element.
  yield xml.split('<').map(cleaned).join('<');
}

function cleaned(element: string): string {
  const values = new Map<string, string>();
  for (const [, name = '', , quoted = ''] of element.matchAll(ATTRIBUTE))
    values.set(name, attributeText(quoted.slice(1, -1)));
  if (!leadsOutside(values)) return element;
  return element.replaceAll(ATTRIBUTE, (whole, name: string, equals: string) =>
    name === 'Target' ? `${name}${equals}""` : whole,
  );
}

/** Anything but a part of the package and the address of a click. */
function leadsOutside(values: ReadonlyMap<string, string>): boolean {
  const target = values.get('Target') ?? '';
  const isPart = (values.get('TargetMode') ?? 'internal') === 'internal' && !/[:\\?|]|^\/\//.test(target);
  const isClick = (values.get('Type') ?? '').endsWith('/hyperlink') && (CLICKED.test(target) || target.startsWith('#'));
  return target !== '' && !isPart && !isClick;
}
