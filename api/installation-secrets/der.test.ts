import { describe, expect, it } from 'vitest';
import {
  bits,
  integer,
  isTrue,
  octets,
  oid,
  sequence,
  set,
  tagged,
  text,
  time,
} from '#api/installation-secrets/der.ts';

const hex = (bytes: Buffer): string => bytes.toString('hex');

describe('DER', () => {
  it.each<[string, Buffer, string]>([
    ['an integer', integer(Buffer.from([0x7f])), '02017f'],
    ['an integer with a leading 1 bit as a positive one', integer(Buffer.from([0x80])), '02020080'],
    ['the identifier of sha256WithRSAEncryption', oid('1.2.840.113549.1.1.11'), '06092a864886f70d01010b'],
    ['an identifier with small numbers', oid('2.5.4.3'), '0603550403'],
    ['a bit string with unused bits', bits(Buffer.from([0xa0]), 5), '030205a0'],
    ['text in UTF-8', text('é'), '0c02c3a9'],
    ['true', isTrue(), '0101ff'],
    ['a sequence', sequence(isTrue(), octets(Buffer.alloc(1))), '30060101ff040100'],
    ['a set', set(isTrue()), '31030101ff'],
    ['a constructed value of a context', tagged(3, isTrue(), 'constructed'), 'a3030101ff'],
    ['a primitive value of a context', tagged(2, Buffer.from('a'), 'primitive'), '820161'],
  ])('encodes %s', (_what, encoded, expected) => {
    expect(hex(encoded)).toBe(expected);
  });

  it.each([
    [127, '7f'],
    [128, '8180'],
    [255, '81ff'],
    [256, '820100'],
    [65_536, '83010000'],
  ])('writes the length %i as %s', (length, expected) => {
    expect(hex(octets(Buffer.alloc(length)).subarray(1, 1 + expected.length / 2))).toBe(expected);
  });

  it('writes years before 2050 with two digits and later ones with four', () => {
    expect(time(new Date('2049-12-31T23:59:59.999Z')).toString('latin1')).toBe('\x17\x0d491231235959Z');
    expect(time(new Date('2050-01-01T00:00:00Z')).toString('latin1')).toBe('\x18\x0f20500101000000Z');
  });
});
