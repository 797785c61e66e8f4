import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const LOG = fileURLToPath(new URL('log.ts', import.meta.url));

/** Logs two lines once its standard input has ended, of which a buffer would hold the second, and ends in the same moment. */
const PROGRAM = `
  import { makeLog } from ${JSON.stringify(LOG)};
  const log = makeLog('test', 'info');
  log.info('started');
  process.stdin.resume().once('end', () => {
    log.info('stopping');
    log.info('stopped');
    process.exit(0);
  });`;

describe('makeLog', () => {
  it('does not keep a process from ending when nobody reads its log any more', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    child.stdout.destroy();
    await once(child.stdout, 'close');
    child.stdin.end();
    expect(await ended).toEqual([0, null]);
  }, 15_000);
});
