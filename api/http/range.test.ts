import { describe, expect, it } from 'vitest';
import { parseRange } from '#api/http/range.ts';

const object = { size: 100, etag: '"a"' };

describe('the Range header', () => {
  // Promise, Jobs: Signed link: no key, no allow-list, 403 before existence, 404 without output, ranges
  it.each([
    ['bytes=0-9', { start: 0, end: 9 }],
    ['bytes=90-', { start: 90, end: 99 }],
    ['bytes=90-1000', { start: 90, end: 99 }],
    ['bytes=-10', { start: 90, end: 99 }],
    ['bytes=-1000', { start: 0, end: 99 }],
    ['bytes=100-', null],
    ['bytes=-0', null],
    ['bytes=9-0', null],
    ['bytes=0-1,5-6', null],
    ['lines=0-1', null],
    ['bytes=-', null],
    [undefined, null],
  ])('%s is parsed as %j', (range, expected) => {
    expect(parseRange(range === undefined ? {} : { range }, object)).toEqual(expected);
  });

  it('is ignored for an empty file', () => {
    expect(parseRange({ range: 'bytes=0-' }, { ...object, size: 0 })).toBeNull();
    expect(parseRange({ range: 'bytes=-5' }, { ...object, size: 0 })).toBeNull();
  });

  it('is ignored when If-Range does not match', () => {
    expect(parseRange({ range: 'bytes=0-9', 'if-range': '"b"' }, object)).toBeNull();
    expect(parseRange({ range: 'bytes=0-9', 'if-range': '"a"' }, object)).toEqual({ start: 0, end: 9 });
  });
});
