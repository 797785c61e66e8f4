import { StartError } from '#api/embedded/start-error.ts';
import { makeDatabase } from '#api/store/database.ts';
import { migrate, SchemaTooNew } from '#api/store/migrate.ts';
import type { Clock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';

/** Runs the missing migrations. @throws StartError when the database cannot be reached or has a newer schema. */
export async function migrateDatabase({ clock }: { clock: Clock }, url: string): Promise<void> {
  const database = makeDatabase({ url, log: makeLog('embedded', 'error'), maxConnections: 1 });
  try {
    await migrate({ database, clock });
  } catch (error) {
    if (error instanceof SchemaTooNew) throw new StartError(error.message, { cause: error });
    throw new StartError(`The database cannot be migrated to this version's schema: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    await database.close();
  }
}
