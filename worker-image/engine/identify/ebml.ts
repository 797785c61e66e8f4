import type { Format } from '#crds/formats.ts';
import { has } from '#worker-image/engine/identify/signatures.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

const DOC_TYPE = 0x4282;

/** Matroska and WebM by the DocType of the EBML header (RFC 8794); null when it is no EBML. */
export function formatOfEbml(head: Buffer): Format | null {
  if (!has(head, '\x1a\x45\xdf\xa3')) return null;
  const docType = readDocType(head);
  if (docType === 'webm') return 'webm';
  if (docType === 'matroska') return 'mkv';
  throw unsupported(
    docType === null ? 'an EBML file without a type' : `an EBML file of the type ${JSON.stringify(docType)}`,
  );
}

function readDocType(head: Buffer): string | null {
  const header = readSize(head, 4);
  let at = header.next;
  const end = Math.min(head.length, header.next + header.value);
  while (at < end) {
    const id = readId(head, at);
    const size = readSize(head, id.next);
    if (id.value === DOC_TYPE)
      return head.toString('latin1', size.next, size.next + Math.min(size.value, 32)).replace(/\0.*$/s, '');
    at = size.next + size.value;
  }
  return null;
}

/** Element ids keep their length marker. */
function readId(head: Buffer, at: number): { value: number; next: number } {
  const length = widthAt(head, at);
  let value = 0;
  for (let i = 0; i < length; i += 1) value = value * 256 + (head[at + i] ?? 0);
  return { value, next: at + length };
}

function readSize(head: Buffer, at: number): { value: number; next: number } {
  const length = widthAt(head, at);
  let value = (head[at] ?? 0) & (0xff >> length);
  for (let i = 1; i < length; i += 1) value = value * 256 + (head[at + i] ?? 0);
  return { value, next: at + length };
}

/** Bytes of a variable-length number: the place of its first set bit. */
function widthAt(head: Buffer, at: number): number {
  return Math.min(8, Math.clz32(head[at] ?? 0) - 24 + 1);
}
