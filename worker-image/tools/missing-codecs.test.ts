import { execFileSync } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findTool } from '#worker-image/tools/find-tool.ts';
import { missingCodecs } from '#worker-image/tools/missing-codecs.ts';

describe('missingCodecs', () => {
  it('returns nothing for the ffmpeg of Debian', async () => {
    expect(await missingCodecs(await findTool('ffmpeg'))).toEqual([]);
  });

  it('names each encoder and format that an ffmpeg lacks', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mediajobs-test-'));
    const less = `#!/bin/sh\n'${await findTool('ffmpeg')}' "$@" | grep -vE 'libx265|matroska'\n`;
    await writeFile(join(folder, 'ffmpeg'), less, { mode: 0o755 });
    // fluent-ffmpeg remembers what it has read, so this runs in a process of its own.
    const script = `import { missingCodecs } from '#worker-image/tools/missing-codecs.ts';
      console.log((await missingCodecs('${folder}/ffmpeg')).join());
      console.log((await missingCodecs('${folder}/ffmpeg', { withoutHevc: true })).join());`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
    const formats = 'demuxer matroska,muxer matroska';
    expect(printed.trim().split('\n')).toEqual([`encoder libx265,${formats}`, formats]);
  });
});
