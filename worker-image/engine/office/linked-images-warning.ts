/** Counts the images that a document links and does not contain: files of other machines, which are never fetched. */
import type { Format } from '#crds/catalogue/formats.ts';
import { countInParts, countMatches, omissionWarnings } from '#worker-image/engine/office/document-parts.ts';

interface LinkedImages {
  /** Parts that may show images; null for documents that are one file. */
  readonly names: RegExp | null;
  /** Matches a linked image, from the start of its tag. Images that are linked and contained too do not match. */
  readonly image: RegExp;
}

const OPEN_XML: LinkedImages = {
  // Not the sheets of a workbook, which are large: their images are in drawings.
  names: /^(?:word\/[^/]+|ppt\/[^/]+\/[^/]+|xl\/drawings\/[^/]+)\.xml$/,
  image: /<\w+:blip\s(?![^<>]*\w:embed\s*=)[^<>]*\w:link\s*=/g,
};
/** Images of a package have a path in it. */
const OPEN_DOCUMENT: LinkedImages = {
  names: /^(?:content|styles)\.xml$/,
  image: /<draw:image\s[^<>]*\bxlink:href\s*=\s*["'](?:[a-z]{2,}:|\/|\.\.\/)/gi,
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
  const linked =
    parts === undefined ? 0 : await countInParts(path, parts.names, (part) => countMatches(part, parts.image));
  return omissionWarnings(linked, 'linked image', ': links of documents are not followed');
}
