/** Elements of EBML files: Matroska, WebM. Source: RFC 8794. */

export interface EbmlElement {
  /** Id with its length marker, as in the specifications. */
  readonly id: number;
  readonly body: number;
  /** Bytes of the payload; null when the writer left the size unknown. */
  readonly size: number | null;
}

export const MATROSKA_SEGMENT = 0x18538067;
const DOC_TYPE = 0x4282;
/** Maximum length of a document type that is read, in bytes. */
const MAX_DOC_TYPE_BYTES = 32;

/** Parses the element at an offset; null when its id or size is invalid or truncated. */
export function parseEbmlElement(bytes: Buffer, at: number): EbmlElement | null {
  const idBytes = numberWidth(bytes, at);
  if (idBytes === null) return null;
  const sizeAt = at + idBytes;
  const sizeBytes = numberWidth(bytes, sizeAt);
  if (sizeBytes === null) return null;
  const size = readNumber(bytes, sizeAt, { width: sizeBytes, mask: 0xff >> sizeBytes });
  return {
    id: readNumber(bytes, at, { width: idBytes, mask: 0xff }),
    body: sizeAt + sizeBytes,
    size: size >= 2 ** (7 * sizeBytes) - 1 ? null : size,
  };
}

/** Returns the document type of the EBML header at the start, such as `webm`; null when it names none. */
export function ebmlDocType(head: Buffer): string | null {
  const header = parseEbmlElement(head, 0);
  if (header === null) return null;
  const end = Math.min(head.length, header.body + (header.size ?? Infinity));
  let at = header.body;
  while (at < end) {
    const element = parseEbmlElement(head, at);
    if (element === null || element.size === null) return null;
    const { id, body, size } = element;
    if (id === DOC_TYPE)
      return head.toString('latin1', body, body + Math.min(size, MAX_DOC_TYPE_BYTES)).replace(/\0.*$/s, '');
    at = body + size;
  }
  return null;
}

/** Returns the width of a variable-length number in bytes, 1 to 8: the position of its first set bit. */
function numberWidth(bytes: Buffer, at: number): number | null {
  const width = Math.clz32(bytes[at] ?? 0) - 24 + 1;
  return width > 8 || at + width > bytes.length ? null : width;
}

/** Returns a big-endian number; `mask` applies to its first byte, which holds the length marker. */
function readNumber(bytes: Buffer, at: number, { width, mask }: { width: number; mask: number }): number {
  let value = (bytes[at] ?? 0) & mask;
  for (let index = 1; index < width; index += 1) value = value * 256 + (bytes[at + index] ?? 0);
  return value;
}
