/**
 * Possible kinds of a file by its first bytes alone. The engine identifies the complete file later. Until then the
 * highest price of these kinds is reserved.
 */
import { KINDS, type Kind } from '#crds/catalogue/formats.ts';

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

/** ISO base media brands of HEIF images and image sequences. */
const IMAGE_BRANDS = 'avif avis heic heix hevc hevx heim heis hevm hevs mif1 mif2 msf1 miaf'.split(' ');

/** Rules in order; the first match counts. A file without a match may have any kind. */
const RULES: readonly SignatureRule[] = [
  ...riff('WEBP', 'image'),
  ...riff('WAVE', 'audio'),
  ...riff('AVI ', 'video'),
  starts('\x1a\x45\xdf\xa3', 'video'),
  starts('OggS', 'audio'),
  { ...starts('\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c', ...MEDIA), minBytes: 30 },
  starts('PK\x03\x04', ...OFFICE),
  { ...starts('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', ...OFFICE), minBytes: 512 },
  ...['IIRO', 'IIRS', 'MMOR', 'IIU\0', 'II+\0', 'MM\0+', 'II*\0', 'MM\0*'].map((bytes) => starts(bytes, 'image')),
  starts('\xff\xd8\xff', 'image'),
  starts('\x89PNG\r\n\x1a\n', 'image'),
  starts('GIF87a', 'image'),
  starts('GIF89a', 'image'),
  starts('FUJIFILMCCD-RAW', 'image'),
  starts('%PDF-', 'pdf'),
  starts('fLaC', 'audio'),
  starts('FLV\x01', 'video'),
  starts('\x00\x00\x01\xba', 'video'),
  starts('\x00\x00\x01\xb3', 'video'),
  starts('wOF2', 'font'),
  starts('wOFF', 'font'),
  starts('\xdb\xa5\x2d\x00', 'word'),
  ...['\x09\x00\x04\x00', '\x09\x02\x06\x00', '\x09\x04\x06\x00'].map((signature) => starts(signature, 'sheet')),
  ...IMAGE_BRANDS.map((name) => brand(name, 'image')),
  ...['M4A ', 'M4B ', 'M4P '].map((name) => brand(name, 'audio')),
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
  const rule = RULES.find(({ signatures }) => signatures.every((signature) => isPresent(head, signature)));
  return rule !== undefined && isCertain(head, rule) ? rule.kinds : KINDS;
}

function isPresent(head: Buffer, { offset, bytes }: Signature): boolean {
  return head.length >= offset + bytes.length && head.toString('latin1', offset, offset + bytes.length) === bytes;
}

function isCertain(head: Buffer, { signatures, minBytes = 0 }: SignatureRule): boolean {
  if (head.length < minBytes) return false;
  const isWord = signatures.every(({ bytes }) => /^[ -~]+$/.test(bytes) && !bytes.startsWith('%PDF-'));
  return !isWord || head.subarray(0, TEXT_BYTES).includes(0);
}
