/**
 * Format and possible kinds of a file by its first bytes alone. The engine identifies the complete file later. Until then
 * the highest price of these kinds is reserved.
 */
import { FORMAT_NAMES, FORMATS, KINDS, type Format, type Kind } from '#crds/catalogue/formats.ts';

interface Signature {
  readonly offset: number;
  /** In Latin-1; `\xNN` for other bytes. */
  readonly bytes: string;
}

interface SignatureRule {
  readonly signatures: readonly Signature[];
  /** Kinds of files with these signatures, without refused ones. */
  readonly kinds: readonly Kind[];
  /** Minimum size: a shorter file with the signatures may have another kind. */
  readonly minBytes?: number;
}

const OFFICE: readonly Kind[] = ['word', 'sheet', 'presentation'];
const MEDIA: readonly Kind[] = ['video', 'audio'];

const at = (offset: number, bytes: string): Signature => ({ offset, bytes });
const starts = (bytes: string, ...kinds: Kind[]): SignatureRule => ({ signatures: [at(0, bytes)], kinds });
const riff = (form: string, kind: Kind): SignatureRule[] =>
  ['RIFF', 'RF64', 'BW64'].map((magic) => ({ signatures: [at(0, magic), at(8, form)], kinds: [kind] }));
const brand = (name: string, kind: Kind): SignatureRule => ({
  signatures: [at(4, 'ftyp'), at(8, name)],
  kinds: [kind],
  minBytes: 16,
});

/** Major brands that name neither AVIF nor HEIC, of files that may be either. */
export const GENERIC_IMAGE_BRANDS: readonly string[] = ['mif1', 'mif2', 'msf1', 'miaf'];

/** Rules for containers of several formats, in order; the first match counts. A file without a match may have any kind. */
const RULES: readonly SignatureRule[] = [
  ...riff('WEBP', 'image'),
  ...riff('WAVE', 'audio'),
  ...riff('AVI ', 'video'),
  starts('\x1a\x45\xdf\xa3', 'video'),
  starts('OggS', 'audio'),
  { ...starts('\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c', ...MEDIA), minBytes: 30 },
  starts('PK\x03\x04', ...OFFICE),
  { ...starts('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', ...OFFICE), minBytes: 512 },
  starts('II*\0', 'image'),
  starts('MM\0*', 'image'),
  ...GENERIC_IMAGE_BRANDS.map((name) => brand(name, 'image')),
  ...FORMAT_NAMES.flatMap((format) => (FORMATS[format].brands ?? []).map((name) => brand(name, FORMATS[format].kind))),
  { signatures: [at(4, 'ftyp')], kinds: MEDIA, minBytes: 16 },
];

/** Window in bytes in which a zero byte excludes text. Text may begin with a signature of printable characters. */
const TEXT_BYTES = 512;

/** Number of bytes that suffices for most formats; the others need the whole file. */
const SUFFICIENT_BYTES = 64;

export interface FirstBytes {
  readonly add: (chunk: Buffer) => void;
  /** Returns true when more bytes hardly ever change the possible kinds. */
  readonly suffice: () => boolean;
  /** Returns the added bytes, up to the maximum that `possibleKinds` reads. */
  readonly bytes: () => Buffer;
}

/** Collects the first bytes of a file that is received in chunks. */
export function collectFirstBytes(): FirstBytes {
  let bytes: Buffer = Buffer.alloc(0);
  return {
    add: (chunk) => {
      if (bytes.length < TEXT_BYTES) bytes = Buffer.concat([bytes, chunk.subarray(0, TEXT_BYTES - bytes.length)]);
    },
    suffice: () => bytes.length >= SUFFICIENT_BYTES,
    bytes: () => bytes,
  };
}

/**
 * Returns every kind that a file with the first bytes `head` may be identified as. More bytes only shorten the list: it
 * always includes the kind of the whole file.
 */
export function possibleKinds(head: Buffer): readonly Kind[] {
  const format = formatOfSignature(head);
  if (format !== null) return [FORMATS[format].kind];
  const rule = RULES.find(({ signatures }) => signatures.every((signature) => isPresent(head, signature)));
  return rule !== undefined && isCertain(head, rule) ? rule.kinds : KINDS;
}

const SIGNATURES = FORMAT_NAMES.flatMap((format) =>
  (FORMATS[format].signatures ?? []).map((bytes) => ({ format, bytes, offset: 0 })),
);

/** Returns the format whose signature the file begins with; null when it begins with none. */
export function formatOfSignature(head: Buffer): Format | null {
  const found = SIGNATURES.find((signature) => isPresent(head, signature) && isGenuine(head, signature));
  return found?.format ?? null;
}

function isGenuine(head: Buffer, { format, bytes }: { format: Format; bytes: string }): boolean {
  return format === 'ttf' || format === 'otf' ? isFontDirectory(head) : isPlausible(head, { bytes });
}

function isPresent(head: Buffer, { offset, bytes }: Signature): boolean {
  return head.length >= offset + bytes.length && head.toString('latin1', offset, offset + bytes.length) === bytes;
}

function isCertain(head: Buffer, { signatures, minBytes = 0 }: SignatureRule): boolean {
  return head.length >= minBytes && signatures.some((signature) => isPlausible(head, signature));
}

/** Signatures of formats that are text. */
const TEXT_SIGNATURES: readonly string[] = ['{\\rtf', '%PDF-', '%!PS'];

/** Returns whether a match is more than text: a signature of letters alone also requires a zero byte near the start. */
export function isPlausible(head: Buffer, { bytes }: Pick<Signature, 'bytes'>): boolean {
  const isWord = /^[ -~]+$/.test(bytes) && !TEXT_SIGNATURES.some((start) => bytes.startsWith(start));
  return !isWord || head.subarray(0, TEXT_BYTES).includes(0);
}

/** Returns whether a plausible number of tables is followed by a tag of four printable characters. */
function isFontDirectory(head: Buffer): boolean {
  if (head.length < 28) return false;
  const tables = head.readUInt16BE(4);
  return tables > 0 && tables <= 1024 && /^[ -~]{4}$/.test(head.toString('latin1', 12, 16));
}
