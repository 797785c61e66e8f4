/** Counts the images that a document links and does not contain: files of other machines, which are never fetched. */
import type { Readable } from 'node:stream';
import type { Format } from '#crds/catalogue/formats.ts';
import { countInParts, wholeTags } from '#worker-image/engine/office/document-parts.ts';

interface LinkedImages {
  /** Parts that may show images; null for documents that are one file. */
  readonly names: RegExp | null;
  /** Matches the tag of a linked image. Images that are linked and contained too do not match. */
  readonly tag: RegExp;
}

const OPEN_XML: LinkedImages = {
  names: /^(?:word|ppt|xl)\/(?:[^/]+\/)?[^/]+\.xml$/,
  tag: /<\w+:blip\s(?![^<>]*\w:embed\s*=)[^<>]*\w:link\s*=[^<>]*>/g,
};
/** Images of a package have a path in it. */
const OPEN_DOCUMENT: LinkedImages = {
  names: /^(?:content|styles)\.xml$/,
  tag: /<draw:image\s[^<>]*\bxlink:href\s*=\s*["'](?:[a-z]{2,}:|\/|\.\.\/)[^<>]*>/gi,
};
const FLAT: LinkedImages = { ...OPEN_DOCUMENT, names: null };
const PARTS: Readonly<Partial<Record<Format, LinkedImages>>> = {
  docx: OPEN_XML,
  docm: OPEN_XML,
  xlsx: OPEN_XML,
  xlsm: OPEN_XML,
  pptx: OPEN_XML,
  pptm: OPEN_XML,
  odt: OPEN_DOCUMENT,
  ods: OPEN_DOCUMENT,
  odp: OPEN_DOCUMENT,
  fodt: FLAT,
  fods: FLAT,
  fodp: FLAT,
};

/** Returns the warning for the linked images of a document. */
export async function linkedImagesWarnings(path: string, format: Format): Promise<string[]> {
  const parts = PARTS[format];
  const linked = parts === undefined ? 0 : await countInParts(path, parts.names, (part) => countTags(part, parts.tag));
  if (linked === 0) return [];
  return [
    linked === 1
      ? 'A linked image was omitted: links of documents are not followed.'
      : `${linked} linked images were omitted: links of documents are not followed.`,
  ];
}

async function countTags(part: Readable, tag: RegExp): Promise<number> {
  let count = 0;
  for await (const xml of wholeTags(part)) count += xml.match(tag)?.length ?? 0;
  return count;
}
