const PREFIX = '/files/';

/** A path of a-z, 0-9, `_`, `-` and `.` without empty, `.` or `..` segments, such as `uploads/upl_x`. */
function isFileKey(key: string): boolean {
  return (
    key.length <= 512 && key.split('/').every((segment) => /^[a-z0-9_.-]+$/.test(segment) && !/^\.\.?$/.test(segment))
  );
}

/** The key itself. @throws Error when it is none: a bug of ours. */
export function checkedKey(key: string): string {
  if (!isFileKey(key)) throw new Error(`not a key of the file store: ${JSON.stringify(key)}`);
  return key;
}

/** The path of a key's signed URL. */
export function filePath(key: string): string {
  return PREFIX + key;
}

/** The key that a signed URL's path names; null when it names none. */
export function keyOfPath(path: string): string | null {
  const key = path.startsWith(PREFIX) ? path.slice(PREFIX.length) : '';
  return isFileKey(key) ? key : null;
}
