/** Log, isolation and tool versions of a process that runs attempts, from its environment. */
import { TRIED_ISOLATION } from '#crds/contract/run-files.ts';
import { armFaultPoints } from '#crds/process/fault-point.ts';
import { makeLog, type Log } from '#crds/process/log.ts';
import {
  probeIsolation,
  triedIsolation,
  type Isolation,
  type IsolationSetting,
} from '#worker-image/tools/isolation.ts';
import { toolVersions } from '#worker-image/tools/tool-versions.ts';

export interface AttemptsDeps {
  readonly log: Log;
  readonly isolation: Isolation;
  readonly versions: Promise<Readonly<Record<string, string>>>;
}

/** Returns what the attempts of this process share. Exits with code 1 when files cannot be opened in isolation. */
export async function prepareAttempts(name: string): Promise<AttemptsDeps> {
  const log = makeLog(name, process.env['MEDIAJOBS_LOG_LEVEL'] ?? 'info');
  armFaultPoints({ log }, process.env['MEDIAJOBS_FAULTS_DIR']);
  const versions = toolVersions();
  const isolation =
    triedIsolation(process.env[TRIED_ISOLATION]) ??
    (await probeIsolation({ setting: isolationSetting() }).catch((error: unknown) => {
      console.error(error instanceof Error ? error.message : String(error));
      process.exit(1);
    }));
  return { log, isolation, versions };
}

/** Returns the setting, which the owner of this process has validated. */
function isolationSetting(): IsolationSetting {
  const setting = process.env['MEDIAJOBS_ISOLATION'];
  return setting === 'pod' || setting === 'none' ? setting : 'auto';
}
