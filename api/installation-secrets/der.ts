/** Encoders of the ASN.1 values in a certificate, in DER (ITU-T X.690). */

const TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  text: 0x0c,
  utc: 0x17,
  time: 0x18,
} as const;
const SEQUENCE = 0x30;
const SET = 0x31;

function encode(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes]);
  const hex = bytes.toString(16);
  const digits = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.from([0x80 | digits.length]), digits]);
}

export const sequence = (...values: readonly Buffer[]): Buffer => encode(SEQUENCE, Buffer.concat(values));
export const set = (...values: readonly Buffer[]): Buffer => encode(SET, Buffer.concat(values));
export const octets = (content: Uint8Array): Buffer => encode(TAGS.octets, content);
export const text = (content: string): Buffer => encode(TAGS.text, Buffer.from(content));
export const isTrue = (): Buffer => encode(TAGS.boolean, Buffer.from([0xff]));

/** Encodes an unsigned integer: a zero byte before a leading 1 bit, which would mean a negative number. */
export function integer(bytes: Uint8Array): Buffer {
  const isNegative = (bytes[0] ?? 0) >= 0x80;
  return encode(TAGS.integer, isNegative ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** Encodes a bit string whose last `unused` bits do not count. */
export function bits(content: Uint8Array, unused = 0): Buffer {
  return encode(TAGS.bits, Buffer.concat([Buffer.from([unused]), content]));
}

/** Encodes an object identifier, such as 2.5.4.3. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return encode(TAGS.oid, Buffer.from([first * 40 + second, ...rest.flatMap((number) => base128(number))]));
}

function base128(number: number): number[] {
  const digits = [number & 0x7f];
  for (let rest = number >> 7; rest > 0; rest >>= 7) digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}

/** Encodes a time to the second; up to 2049 with two digits of the year, as certificates require. */
export function time(at: Date): Buffer {
  const digits = `${at.toISOString().replaceAll(/\D/g, '').slice(0, 14)}Z`;
  if (at.getUTCFullYear() < 2050) return encode(TAGS.utc, Buffer.from(digits.slice(2)));
  return encode(TAGS.time, Buffer.from(digits));
}

/** Encodes a context-specific value: constructed around other values, or primitive with its own content. */
export function tagged(number: number, content: Uint8Array, form: 'constructed' | 'primitive'): Buffer {
  return encode(0x80 | (form === 'constructed' ? 0x20 : 0) | number, content);
}
