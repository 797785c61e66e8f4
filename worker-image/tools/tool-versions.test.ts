import { describe, expect, it } from 'vitest';
import type { Command } from '#worker-image/tools/run-command.ts';
import { toolVersions } from '#worker-image/tools/tool-versions.ts';

/** Returns the versions on a machine whose dpkg-query prints the lines. */
function versionsFor(lines: readonly string[]): Promise<Record<string, string>> {
  return toolVersions(async ({ onLine }: Command) => {
    lines.forEach((line) => onLine?.(line));
    return { exitCode: 0, stdout: '', stderr: '' };
  });
}

describe('toolVersions', () => {
  it('returns the version of a package for each of its tools', async () => {
    const versions = await versionsFor(['ffmpeg 7:5.1.8-0+deb12u1', 'util-linux 2.38.1-5+deb12u3']);
    const { ffmpeg, ffprobe, setpriv, prlimit } = versions;
    expect({ ffmpeg, ffprobe, setpriv, prlimit }).toEqual({
      ffmpeg: '7:5.1.8-0+deb12u1',
      ffprobe: '7:5.1.8-0+deb12u1',
      setpriv: '2.38.1-5+deb12u3',
      prlimit: '2.38.1-5+deb12u3',
    });
  });

  it('omits packages without a version', async () => {
    expect(Object.keys(await versionsFor(['ffmpeg ', 'qpdf 11.3.0-1']))).not.toContain('ffmpeg');
  });

  it('returns the versions of Node.js and of the libraries where dpkg-query is missing', async () => {
    const versions = await toolVersions(() => Promise.reject(new Error('no dpkg-query')));
    expect(versions).toMatchObject({ node: process.versions.node, sharp: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
    expect(versions).not.toHaveProperty('ffmpeg');
  });
});
