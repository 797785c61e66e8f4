import { describe, expect, it } from 'vitest';
import type { NewUpload } from '#api/uploads/create-upload.ts';
import { uploadObject } from '#api/uploads/upload-object.ts';

const deps = { baseUrl: 'https://media.test' };
const upload = { id: 'upl_1', size: 28, filename: null, multipart: false, expiresAt: new Date(0) } as NewUpload;

describe('uploadObject', () => {
  it('has one URL with the encoded file name', () => {
    const object = uploadObject(deps, { ...upload, filename: 'größe & b.csv' });
    expect(object).toMatchObject({
      multipart: false,
      url: 'https://media.test/v1/uploads/upl_1/content?filename=gr%C3%B6%C3%9Fe%20%26%20b.csv',
      expires_at: '1970-01-01T00:00:00.000Z',
    });
    expect(Object.keys(object)).not.toContain('parts');
    expect(uploadObject(deps, upload).url).toBe('https://media.test/v1/uploads/upl_1/content');
  });

  it('has parts of 64 MB, the last one with the rest', () => {
    const object = uploadObject(deps, { ...upload, multipart: true, size: 2 * 67_108_864 + 1 });
    expect(object.parts?.map(({ part_number: number, size }) => [number, size])).toEqual([
      [1, 67_108_864],
      [2, 67_108_864],
      [3, 1],
    ]);
    expect(object.parts?.[2]?.url).toBe('https://media.test/v1/uploads/upl_1/parts/3');
    expect(object.url).toBeUndefined();
  });
});
