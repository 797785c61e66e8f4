/** A running service for the bench: one account that may do everything, and what its processes take. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runService } from '#api/embedded/run-service.ts';
import { makeApiClient, type ApiClient } from '#test/support/api-client.ts';
import { processesOf, type ProcessRole, type ServiceProcess } from '#test/support/service-processes.ts';

export interface BenchService {
  readonly api: ApiClient;
  readonly processes: () => ServiceProcess[];
  readonly stop: () => Promise<void>;
}

const MEDIACTL = new URL('../../../api/mediactl.ts', import.meta.url).pathname;
const run = promisify(execFile);

/** @param folder - An empty one, for its data. */
export async function startBenchService(folder: string): Promise<BenchService> {
  const data = join(folder, 'service');
  const service = await runService({ data, onProblem: (line) => process.stderr.write(`${line}\n`) });
  const mediactl = async (...words: string[]): Promise<Record<string, unknown>> => {
    const { stdout } = await run(process.execPath, [MEDIACTL, '--data', data, ...words, '--json']);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const features = ['--feature', 'video', '--feature', 'heic_output'];
  const plan = ['--name', 'bench', '--plan', 'enterprise', '--payment-method'];
  const account = await mediactl('account', 'create', ...plan, ...features);
  const owner = ['--account', String(account['id']), '--mode', 'live', '--name', 'bench'];
  const key = await mediactl('key', 'create', ...owner);
  const api = makeApiClient(service, String(key['key']));
  return {
    api,
    processes: () => processesOf(data),
    stop: async () => {
      await api.close();
      await service.stop();
    },
  };
}

/** Processes of the direct lane: the interface and all that opens files for it. */
export function ofDirectLane({ role, ofJob }: ServiceProcess): boolean {
  const roles: readonly ProcessRole[] = ['api', 'engine', 'engine child', 'tool', 'wrapper'];
  return !ofJob && roles.includes(role);
}
