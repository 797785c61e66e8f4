/** The processes of the tree and the settings that each one gets: what it needs, and nothing else. */
import { fileURLToPath } from 'node:url';
import { FILE_SETTINGS } from '#api/files/file-settings.ts';
import type { SettingName } from '#crds/shared/settings.ts';

export type ProcessName = 'engine' | 'control' | 'courier' | 'api';

interface ProcessEntry {
  readonly name: ProcessName;
  readonly script: string;
  readonly settings: readonly SettingName[];
}

const EVERY_PROCESS: readonly SettingName[] = [
  'MEDIAJOBS_OPS_HOST',
  'MEDIAJOBS_OPS_PORT',
  'MEDIAJOBS_LOG_LEVEL',
  'MEDIAJOBS_FAULTS_DIR',
];
/** Of those that write or read times. */
const RECORDS: readonly SettingName[] = ['DATABASE_URL', 'MEDIAJOBS_ENCRYPTION_KEYS', 'MEDIAJOBS_CLOCK_FILE'];
const FILES = Object.keys(FILE_SETTINGS) as SettingName[];

/** In the order in which they stop: who takes work in goes first. */
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
      'MEDIAJOBS_TRUSTED_PROXIES',
      'MEDIAJOBS_PRIVATE_TARGETS',
      'MEDIAJOBS_KEY_PEPPER',
      'MEDIAJOBS_RECEIPT_KEYS',
      'MEDIAJOBS_ENGINE_URL',
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
      'MEDIAJOBS_HEARTBEAT_HOST',
      'MEDIAJOBS_HEARTBEAT_PORT',
      'MEDIAJOBS_OPEN_JOBS',
      'MEDIAJOBS_RUNS_AT_ONCE',
      'MEDIAJOBS_WORK_DIR',
    ],
  },
  {
    name: 'courier',
    script: scriptOf('api/courier.ts'),
    settings: [...EVERY_PROCESS, ...RECORDS, ...FILES, 'MEDIAJOBS_PRIVATE_TARGETS', 'MEDIAJOBS_EXTRA_CA_FILE'],
  },
  {
    name: 'engine',
    script: scriptOf('worker-image/serve-direct.ts'),
    settings: [
      ...EVERY_PROCESS,
      'MEDIAJOBS_ENGINE_HOST',
      'MEDIAJOBS_ENGINE_PORT',
      'MEDIAJOBS_ENGINE_CHILDREN',
      'MEDIAJOBS_ENGINE_QUEUE',
      'MEDIAJOBS_ENGINE_FILES_PER_CHILD',
      'MEDIAJOBS_WORK_DIR',
    ],
  },
];

function scriptOf(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
