import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runService } from '#api/embedded/run-service.ts';
import { processesOf } from '#test/support/service-processes.ts';

const SCRIPT = fileURLToPath(new URL('../../api/embedded.ts', import.meta.url));

/** Starts the service on an empty folder and kills the supervisor once the file is there. */
async function killStartAt(file: string): Promise<string> {
  const data = await mkdtemp(path.join(tmpdir(), 'mediajobs-start-'));
  const child = spawn(process.execPath, [SCRIPT, '--data', data, '--port', '0'], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await expect.poll(() => existsSync(path.join(data, file)), { timeout: 30_000, interval: 5 }).toBe(true);
  child.kill('SIGKILL');
  await ended;
  return data;
}

describe('a first start that is killed', () => {
  it.each(['secrets.json', 'postgres.new', 'postgres', 'log/api.log', 'run/processes.json'])(
    'when %s appears does not prevent the next start',
    async (file) => {
      const data = await killStartAt(file);
      const problems: string[] = [];
      const service = await runService({ data, onProblem: (line) => problems.push(line) });
      onTestFinished(async () => {
        await service.stop();
        // Processes of the killed start have some seconds to end.
        await expect.poll(() => processesOf(data), { timeout: 30_000 }).toEqual([]);
        await rm(data, { recursive: true });
      });
      expect(problems).toEqual([]);
    },
  );
});
