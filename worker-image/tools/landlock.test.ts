import { describe, expect, it } from 'vitest';
import { landlock } from '#worker-image/tools/landlock.ts';

const OPTIONS = { folder: '/tmp/one/../own', filter: null, ownProc: true, lenient: false };
const text = (more: Partial<Parameters<typeof landlock>[0]>): string => landlock({ ...OPTIONS, ...more }).join(' ');

describe('landlock', () => {
  it('allows writing to the folder alone, by its full path', () => {
    expect(text({}).match(/--write \S+/g)).toEqual(['--write /tmp/own']);
  });

  it('shows the whole of /proc only where it has no other processes', () => {
    expect(text({})).toContain('--read /proc ');
    expect(text({ ownProc: false })).not.toContain('--read /proc ');
    expect(text({ ownProc: false })).toContain('--read /proc/self ');
  });

  it('ends with the seccomp filter and whether the kernel may lack any of it', () => {
    expect(text({})).toMatch(/--write \/tmp\/own --$/);
    expect(text({ filter: 5, lenient: true })).toMatch(/--seccomp 5 --lenient --$/);
  });
});
