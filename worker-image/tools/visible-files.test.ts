import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { hiddenTools, NEEDED_FILES, visibleFiles } from '#worker-image/tools/visible-files.ts';

const isVisible = (path: string): boolean => visibleFiles().some((one) => path === one || path.startsWith(`${one}/`));

it('visibleFiles includes the program, the code and the packages that an engine process needs', () => {
  for (const path of [process.execPath, ...NEEDED_FILES]) {
    expect(existsSync(path)).toBe(true);
    expect(isVisible(path)).toBe(true);
  }
});

it.each(['/etc/passwd', '/etc/shadow', '/root', '/home', '/var/lib/postgresql', '/run'])(
  'visibleFiles does not include %s',
  (path) => {
    expect(isVisible(path)).toBe(false);
  },
);

it('hiddenTools names only tools outside of /usr', async () => {
  for (const path of await hiddenTools()) expect(path).not.toMatch(/^\/usr\//);
});
