/**
 * Removes external links from OpenDocument XML. The settings of LibreOffice block most of them, but it has embedded
 * images and objects of its own machine into presentations.
 */
import { MediaError } from '#crds/contract/media-error.ts';

/** Attributes with an address, with any prefix. Matched everywhere, not only in tags: a tag can be disguised. */
const ADDRESS = /(?<=[\s:])(href|image-data|src|base)(\s*=\s*)("[^"]*"|'[^']*')/g;
/** Addresses that are followed on a click only. */
export const CLICK_ONLY = /^(?:https?|mailto|tel|ftps?):/;
/** An incomplete attribute at the end of the text. */
const UNFINISHED = /(?<=[\s:])(?:href|image-data|src|base)\s*(?:=\s*(?:"[^"]*|'[^']*)?)?$/;
/** Maximum length of an incomplete attribute name, in characters. */
const MAX_NAME_CHARS = 64;
const PIECE_CHARS = 64 * 1024;
const MAX_HELD_CHARS = 1024 ** 2;

/** Document type of manifests and Basic libraries by OpenOffice.org and LibreOffice: a DTD without additions. */
const STANDARD_DOCTYPE = /<!DOCTYPE\s+[\w:]+\s+PUBLIC\s+"-\/\/OpenOffice\.org\/\/DTD [\w. ]+\/\/EN"\s+"\w+\.dtd"\s*>/;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Empties the external addresses in a text and keeps the rest. */
export function removeExternalLinks(xml: string): string {
  return xml.replaceAll(ADDRESS, (whole, name: string, equals: string, quoted: string) =>
    isExternal(quoted.slice(1, -1)) ? `${name}${equals}""` : whole,
  );
}

/** Empties the external addresses in a stream of text. @throws MediaError processing_failed for XML that no office program writes. */
export async function* removeExternalLinksFrom(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let held = '';
  let isFirst = true;
  let due = PIECE_CHARS;
  for await (const piece of pieces) {
    held += piece;
    if (held.length < due) continue;
    if (isFirst) refuseUnusualXml(held);
    isFirst = false;
    const clean = removeExternalLinks(held);
    const cut = Math.max(0, (UNFINISHED.exec(clean)?.index ?? clean.length) - MAX_NAME_CHARS);
    yield clean.slice(0, cut);
    held = clean.slice(cut);
    due = Math.max(PIECE_CHARS, held.length * 2);
    if (held.length > MAX_HELD_CHARS) throw unusualXml('an address in it has more than a million characters');
  }
  if (isFirst) refuseUnusualXml(held);
  yield removeExternalLinks(held);
}

/**
 * Refuses a document type, which could rename elements by entities, and an encoding other than UTF-8, which could hide
 * them. No office program writes either.
 * @throws MediaError processing_failed.
 */
export function refuseUnusualXml(start: string): void {
  const encoding = /^\uFEFF?\s*<\?xml[^>]*\bencoding\s*=\s*["']([^"']*)["']/.exec(start)?.[1] ?? 'utf-8';
  if (/<!DOCTYPE|<!ENTITY/.test(start.replace(STANDARD_DOCTYPE, ''))) throw unusualXml('it declares a document type');
  if (!/^(?:utf-?8|us-ascii)$/i.test(encoding)) throw unusualXml(`it is written in ${encoding.slice(0, 40)}`);
  if (start.includes('\0')) throw unusualXml('it is not written in UTF-8');
}

function unusualXml(why: string): MediaError {
  return new MediaError(
    'processing_failed',
    `The document has XML that office programs do not write: ${why}. Open it in one and save it again.`,
  );
}

/** Returns whether an address is neither click-only nor inside the document: `#part`, `Pictures/a.png`, `./Object 1`. */
function isExternal(value: string): boolean {
  const address = attributeText(value);
  if (address === '' || address.startsWith('#') || CLICK_ONLY.test(address)) return false;
  const plain = address.replaceAll('%2e', '.').replaceAll(/%(?:2f|5c)/g, '/');
  return /^[/\\]|[:\\?|]/.test(plain) || plain.split('/').includes('..');
}

/** Decodes the value of an attribute, in lower case and without whitespace, which readers of addresses ignore. */
export function attributeText(value: string): string {
  return decodeEntities(value)
    .replaceAll(/[\s\p{Cc}]/gu, '')
    .toLowerCase();
}

function decodeEntities(value: string): string {
  return value.replaceAll(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex: string, digits: string, name: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '\0';
  });
}
