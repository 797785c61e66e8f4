/**
 * Links of OpenDocument XML that leave the document. LibreOffice's settings keep most of them from being
 * followed, but it has put pictures and objects of the machine it runs on into presentations.
 */
import { MediaError } from '#crds/media-error.ts';

/** Attributes that hold an address, whatever prefix the document gives them. They are looked for everywhere, not in tags only: what a tag is can be disguised. */
const ADDRESS = /(?<=[\s:])(href|image-data|src|base)(\s*=\s*)("[^"]*"|'[^']*')/g;
/** Followed by readers at a click only. */
export const CLICKED = /^(?:https?|mailto|tel|ftps?):/;
/** An attribute that the text so far has begun and not ended. */
const UNFINISHED = /(?<=[\s:])(?:href|image-data|src|base)\s*(?:=\s*(?:"[^"]*|'[^']*)?)?$/;
/** Where a name that is not whole yet may begin. */
const LONGEST_NAME = 64;
const PIECE_CHARS = 64 * 1024;
const MAX_HELD_CHARS = 1024 ** 2;

/** What OpenOffice.org and LibreOffice begin manifests and Basic libraries with: it names a grammar and adds nothing to it. */
const USUAL_TYPE = /<!DOCTYPE\s+[\w:]+\s+PUBLIC\s+"-\/\/OpenOffice\.org\/\/DTD [\w. ]+\/\/EN"\s+"\w+\.dtd"\s*>/;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The text without the addresses that lead outside; the rest is as it was. */
export function withoutOutsideLinks(xml: string): string {
  return xml.replaceAll(ADDRESS, (whole, name: string, equals: string, quoted: string) =>
    leadsOutside(quoted.slice(1, -1)) ? `${name}${equals}""` : whole,
  );
}

/** The same for a text that comes in pieces. @throws MediaError processing_failed for XML that no office program writes. */
export async function* withoutOutsideLinksIn(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let held = '';
  let isFirst = true;
  let due = PIECE_CHARS;
  for await (const piece of pieces) {
    held += piece;
    if (held.length < due) continue;
    if (isFirst) refuseStrangeXml(held);
    isFirst = false;
    const clean = withoutOutsideLinks(held);
    const cut = Math.max(0, (UNFINISHED.exec(clean)?.index ?? clean.length) - LONGEST_NAME);
    yield clean.slice(0, cut);
    held = clean.slice(cut);
    due = Math.max(PIECE_CHARS, held.length * 2);
    if (held.length > MAX_HELD_CHARS) throw strange('an address in it has more than a million characters');
  }
  if (isFirst) refuseStrangeXml(held);
  yield withoutOutsideLinks(held);
}

/**
 * A document type would let the document name its parts in words of its own, and another encoding would
 * hide them. Neither is written by any office program.
 * @throws MediaError processing_failed.
 */
export function refuseStrangeXml(start: string): void {
  const encoding = /^\uFEFF?\s*<\?xml[^>]*\bencoding\s*=\s*["']([^"']*)["']/.exec(start)?.[1] ?? 'utf-8';
  if (/<!DOCTYPE|<!ENTITY/.test(start.replace(USUAL_TYPE, ''))) throw strange('it declares a document type');
  if (!/^(?:utf-?8|us-ascii)$/i.test(encoding)) throw strange(`it is written in ${encoding.slice(0, 40)}`);
  if (start.includes('\0')) throw strange('it is not written in UTF-8');
}

function strange(why: string): MediaError {
  return new MediaError(
    'processing_failed',
    `The document is not as office programs write it: ${why}. Save it again from one.`,
  );
}

/** Anything but a click's address and a place in the document itself: `#part`, `Pictures/a.png`, `./Object 1`. */
function leadsOutside(value: string): boolean {
  const address = attributeText(value);
  if (address === '' || address.startsWith('#') || CLICKED.test(address)) return false;
  const plain = address.replaceAll('%2e', '.').replaceAll(/%(?:2f|5c)/g, '/');
  return /^[/\\]|[:\\?|]/.test(plain) || plain.split('/').includes('..');
}

/** What an attribute says, in small letters and without blanks, which readers of addresses leave out. */
export function attributeText(value: string): string {
  return decoded(value)
    .replaceAll(/[\s\p{Cc}]/gu, '')
    .toLowerCase();
}

function decoded(value: string): string {
  return value.replaceAll(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex: string, digits: string, name: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '\0';
  });
}
