import { describe, expect, it } from 'vitest';
import { ASF_HEADER, asfStreamTypes, parseAsfObject } from '#worker-image/engine/containers/asf.ts';

const STREAM = '9107dcb7b7a9cf118ee600c00c205365';
const AUDIO = '409e69f84d5bcf11a8fd00805f5c442b';
const VIDEO = 'c0ef19bc4d5bcf11a8fd00805f5c442b';

function object(id: Buffer, size: bigint): Buffer {
  const bytes = Buffer.alloc(24);
  id.copy(bytes);
  bytes.writeBigUInt64LE(size, 16);
  return bytes;
}

describe('parseAsfObject', () => {
  it('returns GUID and range of an object, also of one that is longer than the file', () => {
    expect(parseAsfObject(object(ASF_HEADER, 2n ** 40n), 100)).toEqual({
      id: Buffer.from('3026b2758e66cf11a6d900aa0062ce6c', 'hex'),
      start: 100,
      body: 124,
      end: 100 + 2 ** 40,
    });
  });

  it('returns null when the header of the object is truncated', () => {
    expect(parseAsfObject(object(ASF_HEADER, 30n).subarray(0, 23), 0)).toBeNull();
  });
});

describe('asfStreamTypes', () => {
  it('returns the types of streams at any depth', () => {
    const stream = (type: string): Buffer => Buffer.from(`${STREAM}${'00'.repeat(8)}${type}`, 'hex');
    const header = Buffer.concat([Buffer.alloc(30), stream(AUDIO), Buffer.alloc(7), stream(VIDEO), stream('00')]);
    expect(asfStreamTypes(header)).toEqual(['audio', 'video', 'other']);
  });

  it('returns nothing without a description of a stream', () => {
    expect(asfStreamTypes(Buffer.alloc(100))).toEqual([]);
  });
});
