import { describe, expect, it } from 'vitest';
import { ebmlDocType, MATROSKA_SEGMENT, parseEbmlElement } from '#worker-image/engine/containers/ebml.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

describe('parseEbmlElement', () => {
  it.each([
    ['a size of one byte', '428284', { id: 0x4282, body: 3, size: 4 }],
    ['a size of two bytes', '42824004', { id: 0x4282, body: 4, size: 4 }],
    ['a size of eight bytes', '185380670100000000123457', { id: MATROSKA_SEGMENT, body: 12, size: 0x123457 }],
    ['an unknown size of one byte', '4282ff', { id: 0x4282, body: 3, size: null }],
    ['an unknown size of eight bytes', '1853806701ffffffffffffff', { id: MATROSKA_SEGMENT, body: 12, size: null }],
    ['a truncated id', '1853', null],
    ['a truncated size', '42824', null],
    ['a size without its marker', '428200', null],
    ['no bytes', '', null],
  ])('reads an element with %s', (_what, bytes, element) => {
    expect(parseEbmlElement(hex(bytes), 0)).toEqual(element);
  });
});

describe('ebmlDocType', () => {
  it.each([
    ['the first element', '1a45dfa3 87 4282 84 7765626d', 'webm'],
    ['behind another one', '1a45dfa3 8b 4286 81 01 4282 84 7765626d', 'webm'],
    ['padded with zeros', '1a45dfa3 89 4282 86 7765626d0000', 'webm'],
    ['in a header of unknown size', '1a45dfa3 ff 4282 84 7765626d', 'webm'],
    ['behind the header', '1a45dfa3 84 4286 81 01 4282 84 7765626d', null],
    ['missing in an empty header', '1a45dfa3 80', null],
  ])('returns the document type when it is %s', (_where, bytes, type) => {
    expect(ebmlDocType(hex(bytes.replaceAll(' ', '')))).toBe(type);
  });
});
