import type { Format } from '#crds/catalogue/formats.ts';
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';
import { ebmlDocType } from '#worker-image/engine/containers/ebml.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

/** Returns Matroska or WebM by the document type of the EBML header; null when the file is not EBML. */
export function formatOfEbml(head: Buffer): Format | null {
  if (!hasBytes(head, '\x1a\x45\xdf\xa3')) return null;
  const docType = ebmlDocType(head);
  if (docType === 'webm') return 'webm';
  if (docType === 'matroska') return 'mkv';
  throw unsupported(
    docType === null ? 'an EBML file without a type' : `an EBML file of the type ${JSON.stringify(docType)}`,
  );
}
