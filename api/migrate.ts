/** Migrates the database to this version's schema and exits. Idempotent; instances may run concurrently. */
import { makeDatabase } from '#api/store/database.ts';
import { migrate } from '#api/store/migrate.ts';
import { systemClock } from '#crds/process/clock.ts';
import { loadConfig } from '#crds/process/config.ts';
import { makeLog } from '#crds/process/log.ts';
import { settings } from '#crds/process/settings.ts';

const migrateSettings = settings.pick({ DATABASE_URL: true, MEDIAJOBS_LOG_LEVEL: true });

const config = loadConfig(migrateSettings, process.env);
const log = makeLog('migrate', config.MEDIAJOBS_LOG_LEVEL);
const database = makeDatabase({ url: config.DATABASE_URL, log, maxConnections: 1 });
try {
  const ran = await migrate({ database, clock: systemClock, log });
  log.info({ migrations: ran }, 'the schema is up to date');
} catch (error) {
  log.error({ err: error }, 'migrating the database failed');
  process.exitCode = 1;
} finally {
  await database.close();
}
