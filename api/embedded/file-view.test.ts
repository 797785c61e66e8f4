import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fileView } from '#api/embedded/file-view.ts';

/** Makes folders, each with its mode, below one that every user may enter: the TMPDIR of a test run may be private. */
function makeFolders(folders: Readonly<Record<string, number>>): (name: string) => string {
  const root = mkdtempSync('/tmp/file-view-');
  chmodSync(root, 0o755);
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, mode] of Object.entries(folders)) mkdirSync(path.join(root, name), { recursive: true, mode });
  return (name) => path.join(root, name);
}

const DATA = '/usr/share';

describe('the view of a process', () => {
  it('hides the data folder when nothing in it is needed', () => {
    expect(fileView(DATA, ['/usr/bin'])).toEqual([['hide', DATA]]);
  });

  it('shows the needed folders of the data folder after it is hidden', () => {
    expect(fileView(DATA, [`${DATA}/doc`, `${DATA}/bash-completion`])).toEqual([
      ['hide', DATA],
      ['show', `${DATA}/bash-completion`],
      ['show', `${DATA}/doc`],
    ]);
  });

  it('shows the data folder itself after it is hidden, when that is needed', () => {
    expect(fileView(DATA, [DATA])).toEqual([
      ['hide', DATA],
      ['show', DATA],
    ]);
  });

  it('names each path once, and nothing below a path that is shown whole', () => {
    expect(fileView(DATA, [`${DATA}/doc`, `${DATA}/doc/adduser`, `${DATA}/doc`])).toEqual([
      ['hide', DATA],
      ['show', `${DATA}/doc`],
    ]);
  });

  it('does not mistake a path for one inside another with the same prefix', () => {
    expect(fileView('/usr/sha', ['/usr/share/doc'])).toEqual([['hide', '/usr/sha']]);
  });

  it('hides the topmost folder that other users may not enter above a needed path', () => {
    const at = makeFolders({ code: 0o755, 'code/private': 0o700, 'code/private/inner': 0o700 });
    expect(fileView(DATA, [at('code/private/inner')])).toEqual([
      ['hide', at('code/private')],
      ['show', at('code/private/inner')],
      ['hide', DATA],
    ]);
  });

  it('hides the data folder again when it lies in a folder that is shown', () => {
    const at = makeFolders({ private: 0o700, 'private/code/data/files': 0o755 });
    expect(fileView(at('private/code/data'), [at('private/code'), at('private/code/data/files')])).toEqual([
      ['hide', at('private')],
      ['show', at('private/code')],
      ['hide', at('private/code/data')],
      ['show', at('private/code/data/files')],
    ]);
  });
});
