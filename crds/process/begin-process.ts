import { collectDefaultMetrics, Registry } from 'prom-client';
import { clockOf, type Clock } from '#crds/process/clock.ts';
import { armFaultPoints } from '#crds/process/fault-point.ts';
import { keepLastAddresses } from '#crds/process/last-addresses.ts';
import { makeLog, type Log } from '#crds/process/log.ts';
import type { PROCESS_SETTINGS } from '#crds/process/process-settings.ts';
import type { Settings } from '#crds/process/settings.ts';

/**
 * Creates log, clock and metrics registry of a process. The registry contains the metrics of Node.js. From then on the
 * process connects to last known addresses while DNS fails.
 */
export function beginProcess(
  name: string,
  config: Pick<Settings, keyof typeof PROCESS_SETTINGS>,
): { readonly log: Log; readonly clock: Clock; readonly registry: Registry } {
  const log = makeLog(name, config.MEDIAJOBS_LOG_LEVEL);
  const clock = clockOf({ log }, config.MEDIAJOBS_CLOCK_FILE);
  armFaultPoints({ log }, config.MEDIAJOBS_FAULTS_DIR);
  keepLastAddresses({ log });
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return { log, clock, registry };
}
