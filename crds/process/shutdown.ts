import type { Log } from '#crds/process/log.ts';

/** Maximum time of a shutdown after the death of the supervisor, in milliseconds: the database has ended, too. */
const ORPHAN_MS = 5000;

/**
 * Runs a process until SIGTERM, SIGINT or the death of its supervisor, then calls `stop` and exits. An unhandled
 * rejection or exception ends the process with code 1.
 */
export function runUntilStopped(deps: { log: Log }, stop: () => Promise<void>): void {
  const { log } = deps;
  let stopping = false;
  const end = (reason: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ reason }, 'stopping');
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', () => end('SIGTERM'));
  process.once('SIGINT', () => end('SIGINT'));
  const endOrphan = (): void => {
    setTimeout(() => process.exit(1), ORPHAN_MS).unref();
    end('supervisor ended');
  };
  process.once('disconnect', endOrphan);
  // The supervisor may have died while this process started. A process that has none lacks the property.
  if ('connected' in process && !process.connected) endOrphan();
  const crash = (error: unknown): void => {
    log.fatal({ err: error }, 'unhandled error, exiting');
    process.exit(1);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
}
