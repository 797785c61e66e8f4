/** Returns a function that reads each file only the first time: many cells have the same input. */
export function readOnce<T>(
  read: (path: string, directory: string) => Promise<T>,
): (path: string, directory: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (path, directory) => {
    const found = known.get(path) ?? read(path, directory);
    known.set(path, found);
    return found;
  };
}
