import { describe, expect, it } from 'vitest';
import { isMultipart, sentName } from '#api/http/file-body.ts';

describe('isMultipart', () => {
  it.each([
    ['multipart/form-data; boundary=b', true],
    [' Multipart/Form-Data ;boundary=b', true],
    ['multipart/form-data', true],
    ['multipart/form-data-x; boundary=b', false],
    ['multipart/mixed; boundary=b', false],
    ['application/octet-stream', false],
    [undefined, false],
  ])('returns for the type %j the value %s', (type, is) => {
    expect(isMultipart({ headers: { 'content-type': type } })).toBe(is);
  });
});

describe('sentName', () => {
  const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

  it.each([
    ['attachment; filename="photo.jpg"', 'photo.jpg'],
    ['attachment; filename="/tmp/a/photo.jpg"', 'photo.jpg'],
    [latin1('attachment; filename="größe.png"'), 'größe.png'],
    ['attachment; filename="a.png"; filename*=UTF-8\'\'gr%C3%B6%C3%9Fe.png', 'größe.png'],
    ['attachment', null],
    ['attachment; filename', null],
    [undefined, null],
  ])('returns for %j the name %j', (header, name) => {
    expect(sentName({ headers: { 'content-disposition': header } })).toBe(name);
  });

  it('ignores the header of a multipart body, whose part has the name', () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-disposition': 'a; filename="b.png"' };
    expect(sentName({ headers })).toBeNull();
  });
});
