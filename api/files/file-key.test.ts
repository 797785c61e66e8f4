import { describe, expect, it } from 'vitest';
import { checkedKey, filePath, keyOfPath } from '#api/files/file-key.ts';

describe('a key of the file store', () => {
  it.each(['uploads/upl_1', 'uploads/upl_1.parts/12', 'outputs/job_1/a-1'])(
    '%s is found in the path of its URL',
    (key) => {
      expect(checkedKey(key)).toBe(key);
      expect(keyOfPath(filePath(key))).toBe(key);
    },
  );

  it.each(['', 'a//b', '/a', 'a/', '.', 'a/../b', 'a/./b', 'A', 'a b', 'a\0', 'a%2fb', 'x'.repeat(513)])(
    'is not %j',
    (key) => {
      expect(() => checkedKey(key)).toThrow('not a key of the file store');
      expect(keyOfPath(`/files/${key}`)).toBeNull();
    },
  );

  it('is not in a path outside of /files/', () => {
    expect(keyOfPath('/other/uploads/upl_1')).toBeNull();
  });
});
