const PREFIX = '/files/';

/** Accepts paths of a-z, 0-9, `_`, `-` and `.` without empty, `.` or `..` segments, such as `uploads/upl_x`. */
function isFileKey(key: string): boolean {
  return (
    key.length <= 512 && key.split('/').every((segment) => /^[a-z0-9_.-]+$/.test(segment) && !/^\.\.?$/.test(segment))
  );
}

/** Returns the key unchanged. @throws Error when it is not a valid key, which is a bug. */
export function checkedKey(key: string): string {
  if (!isFileKey(key)) throw new Error(`not a key of the file store: ${JSON.stringify(key)}`);
  return key;
}

/** Returns the path of a key's signed URL. */
export function filePath(key: string): string {
  return PREFIX + key;
}

/** Returns the key in the path of a signed URL; null when there is none. */
export function keyOfPath(path: string): string | null {
  const key = path.startsWith(PREFIX) ? path.slice(PREFIX.length) : '';
  return isFileKey(key) ? key : null;
}
