import { access, constants } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { findTool, missingTools, MissingTool, toolPath } from '#worker-image/tools/find-tool.ts';

describe('findTool', () => {
  it('returns the path of an executable file', async () => {
    const path = await findTool('setpriv');
    expect(path).toMatch(/^\/.*\/setpriv$/);
    await access(path, constants.X_OK);
  });

  it('returns an absolute path unchanged', async () => {
    expect(await findTool(process.execPath)).toBe(process.execPath);
  });

  it.each([
    ['no-such-tool', 'The tool no-such-tool is not installed on this machine. Install it.'],
    ['/nowhere/qpdf', 'The tool /nowhere/qpdf is not installed on this machine. Install it.'],
  ])('throws MissingTool for %s', async (name, message) => {
    await expect(findTool(name)).rejects.toThrow(new MissingTool(message));
  });
});

describe('toolPath', () => {
  it('does not depend on the PATH of this process', () => {
    expect(toolPath().split(':')).toContain('/usr/bin');
    expect(toolPath()).not.toContain('node_modules');
  });
});

describe('missingTools', () => {
  it('returns nothing on a machine for tests, which has every tool', () => {
    expect(missingTools()).toEqual([]);
  });
});
