/** Processes of the service on one machine and the settings that each one receives: only those that it needs. */
import { fileURLToPath } from 'node:url';
import { FILE_SETTINGS } from '#api/files/file-settings.ts';
import type { SettingName } from '#crds/process/settings.ts';

export type ProcessName = 'engine' | 'runs' | 'control' | 'courier' | 'api';

interface ProcessEntry {
  readonly name: ProcessName;
  readonly script: string;
  readonly settings: readonly SettingName[];
}

const EVERY_PROCESS: readonly SettingName[] = [
  'MEDIAJOBS_OPS_SOCKET',
  'MEDIAJOBS_OPS_HOST',
  'MEDIAJOBS_OPS_PORT',
  'MEDIAJOBS_LOG_LEVEL',
  'MEDIAJOBS_FAULTS_DIR',
];
/** Settings of processes that use the database. */
const RECORDS: readonly SettingName[] = ['DATABASE_URL', 'MEDIAJOBS_ENCRYPTION_KEYS', 'MEDIAJOBS_CLOCK_FILE'];
const FILES = Object.keys(FILE_SETTINGS) as SettingName[];

/** In the order in which they stop: processes that accept work first. */
export const PROCESSES: readonly ProcessEntry[] = [
  {
    name: 'api',
    script: scriptOf('api/main.ts'),
    settings: [
      ...EVERY_PROCESS,
      ...RECORDS,
      ...FILES,
      'REDIS_URL',
      'MEDIAJOBS_BASE_URL',
      'MEDIAJOBS_DOCS_URL',
      'MEDIAJOBS_DASHBOARD_URL',
      'MEDIAJOBS_GRAFANA_URL',
      'MEDIAJOBS_OIDC_ISSUER',
      'MEDIAJOBS_OIDC_CLIENT_ID',
      'MEDIAJOBS_OIDC_CLIENT_SECRET',
      'MEDIAJOBS_LISTEN_HOST',
      'MEDIAJOBS_HTTPS_PORT',
      'MEDIAJOBS_HTTP_PORT',
      'MEDIAJOBS_TLS_CERT_FILE',
      'MEDIAJOBS_TLS_KEY_FILE',
      'MEDIAJOBS_CONNECTIONS',
      'MEDIAJOBS_CONNECTIONS_PER_ADDRESS',
      'MEDIAJOBS_TRUSTED_PROXIES',
      'MEDIAJOBS_PRIVATE_TARGETS',
      'MEDIAJOBS_KEY_PEPPER',
      'MEDIAJOBS_RECEIPT_KEYS',
      'MEDIAJOBS_ENGINE_URL',
      'MEDIAJOBS_ENGINE_KEYS',
      'MEDIAJOBS_ISOLATION',
    ],
  },
  {
    name: 'control',
    script: scriptOf('api/embedded-control.ts'),
    settings: [
      ...EVERY_PROCESS,
      ...RECORDS,
      ...FILES,
      'MEDIAJOBS_BASE_URL',
      'MEDIAJOBS_HEARTBEAT_SOCKET',
      'MEDIAJOBS_OPEN_JOBS',
      'MEDIAJOBS_RUNS_SOCKET',
      'MEDIAJOBS_ISOLATION',
    ],
  },
  {
    name: 'courier',
    script: scriptOf('api/courier.ts'),
    settings: [...EVERY_PROCESS, ...RECORDS, ...FILES, 'MEDIAJOBS_PRIVATE_TARGETS', 'MEDIAJOBS_EXTRA_CA_FILE'],
  },
  {
    name: 'runs',
    script: scriptOf('controller/embedded-runs.ts'),
    settings: [
      ...EVERY_PROCESS,
      'MEDIAJOBS_CLOCK_FILE',
      'MEDIAJOBS_ISOLATION',
      'MEDIAJOBS_RUNS_AT_ONCE',
      'MEDIAJOBS_RUNS_SOCKET',
      'MEDIAJOBS_WORK_DIR',
    ],
  },
  {
    name: 'engine',
    script: scriptOf('worker-image/serve-direct.ts'),
    settings: [
      ...EVERY_PROCESS,
      'MEDIAJOBS_ENGINE_SOCKET',
      'MEDIAJOBS_ENGINE_CHILDREN',
      'MEDIAJOBS_ENGINE_QUEUE',
      'MEDIAJOBS_ENGINE_SPOOL_MB',
      'MEDIAJOBS_ENGINE_FILES_PER_CHILD',
      'MEDIAJOBS_ISOLATION',
      'MEDIAJOBS_WORK_DIR',
    ],
  },
];

function scriptOf(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
