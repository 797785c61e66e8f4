import { StartError } from '#api/embedded/start-error.ts';
import { makeDatabase } from '#api/store/database.ts';
import { migrate, SchemaTooNew } from '#api/store/migrate.ts';
import type { Clock } from '#crds/shared/clock.ts';
import { makeLog } from '#crds/shared/log.ts';

/** @throws StartError when the database cannot be reached or is ahead of the code. */
export async function migrateDatabase({ clock }: { clock: Clock }, url: string): Promise<void> {
  const database = makeDatabase({ url, log: makeLog('embedded', 'error'), maxConnections: 1 });
  try {
    await migrate({ database, clock });
  } catch (error) {
    if (error instanceof SchemaTooNew) throw new StartError(error.message, { cause: error });
    throw new StartError(`The database cannot be brought to this version's schema: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    await database.close();
  }
}
