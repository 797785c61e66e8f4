import { describe, expect, it } from 'vitest';
import { bubblewrapPrefix, programFolders } from '#worker-image/tools/bubblewrap.ts';

const text = (folder: string, filter: number | null): string => bubblewrapPrefix(folder, filter).join(' ');

describe('bubblewrapPrefix', () => {
  it('binds the folder alone for writing, by its full path, and works there', () => {
    const prefix = text('/tmp/one/../own', null);
    expect(prefix).toContain(' --bind /tmp/own /tmp/own --chdir /tmp/own ');
    expect(prefix.match(/ --bind /g)).toHaveLength(1);
  });

  it('makes the other mounts read-only after the last one', () => {
    expect(text('/tmp/own', null)).toMatch(
      /--chdir \/tmp\/own --remount-ro \/proc --remount-ro \/dev --remount-ro \/ --$/,
    );
  });

  it.each([
    [7, ' --seccomp 7 --'],
    [null, ' --remount-ro / --'],
  ])('passes the descriptor of the seccomp filter: %s', (filter, end) => {
    expect(text('/tmp/own', filter).endsWith(end)).toBe(true);
  });
});

describe('programFolders', () => {
  it('returns the folders of programs and libraries in the root directory', () => {
    expect(programFolders()).toContain('/bin');
    for (const folder of programFolders()) expect(folder).toMatch(/^\/(?:s?bin|lib\w*)$/);
  });
});
