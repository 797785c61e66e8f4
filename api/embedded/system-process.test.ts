import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';

it('a program that cannot be started rejects its start alone', () => {
  // Without free descriptors the spawn fails. An unhandled rejection would end the process before its output.
  const start = `import { openSync } from 'node:fs';
    import { startSystemProcess } from '${path.join(import.meta.dirname, 'system-process.ts')}';
    try { for (;;) openSync('/dev/null'); } catch {}
    const command = { file: 'true', args: [], user: null, deathSignal: 'KILL', onLine: () => {} };
    const problem = await startSystemProcess(command).catch(String);
    await new Promise(setImmediate);
    process.stdout.write(problem);`;
  const shell = 'ulimit -n 100 && exec "$0" --input-type=module --eval "$1"';
  const { stdout } = spawnSync('sh', ['-c', shell, process.execPath, start], { encoding: 'utf8' });
  expect(stdout).toBe('Error: spawn setpriv EMFILE');
});
