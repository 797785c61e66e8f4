import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

const MODULE = pathToFileURL('crds/process/shutdown.ts').href;
const SCRIPT = `
await new Promise((resolve) => process.once('disconnect', resolve));
const { runUntilStopped } = await import('${MODULE}');
runUntilStopped({ log: { info() {}, error() {}, fatal() {} } }, async () => console.log('stopped'));
setTimeout(() => process.exit(9), 20_000);
`;

it('a process whose supervisor ends while it starts stops as soon as it has started', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const output = text(child.stdout as NodeJS.ReadableStream);
  const ended = once(child, 'exit');
  child.disconnect();
  expect(await ended).toEqual([0, null]);
  expect(await output).toBe('stopped\n');
});
