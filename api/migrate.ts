/** Brings the database to this version's schema and ends; safe to run again, and at once in several places. */
import { makeDatabase } from '#api/store/database.ts';
import { migrate } from '#api/store/migrate.ts';
import { systemClock } from '#crds/shared/clock.ts';
import { loadConfig } from '#crds/shared/config.ts';
import { makeLog } from '#crds/shared/log.ts';
import { settings } from '#crds/shared/settings.ts';

const migrateSettings = settings.pick({ DATABASE_URL: true, MEDIAJOBS_LOG_LEVEL: true });

const config = loadConfig(migrateSettings, process.env);
const log = makeLog('migrate', config.MEDIAJOBS_LOG_LEVEL);
const database = makeDatabase({ url: config.DATABASE_URL, log, maxConnections: 1 });
try {
  const ran = await migrate({ database, clock: systemClock });
  log.info({ ran }, 'the schema is up to date');
} catch (error) {
  log.error({ err: error }, 'the schema cannot be brought up to date');
  process.exitCode = 1;
} finally {
  await database.close();
}
