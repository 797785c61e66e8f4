import { fork } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { PROCESSES } from '#api/embedded/process-list.ts';
import { INVALID_SETTINGS } from '#api/embedded/warm-code-cache.ts';

describe('the setting that loads a process without running it', () => {
  it.each(PROCESSES)('is refused by $name once its modules are loaded', async ({ script }) => {
    const child = fork(script, [], { env: INVALID_SETTINGS, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    expect(await once(child, 'exit')).toEqual([1, null]);
  });
});
