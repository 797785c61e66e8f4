import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const LOG = fileURLToPath(new URL('log.ts', import.meta.url));

/** Logs two lines at the end of its standard input and exits at once. A buffer would still contain the second line. */
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
  it('does not prevent the exit of a process when the reader of its log has ended', async () => {
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

  it('escapes control characters in fields without a change of the JSON value', async () => {
    const name = 'a\u009b31m\u202egpj.exe';
    const program = `import { makeLog } from ${JSON.stringify(LOG)}; makeLog('test', 'info').info(${JSON.stringify({ name })}, 'm');`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const line = await text(child.stdout);
    expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(line)).toMatchObject({ name });
  });
});
