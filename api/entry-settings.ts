/** Settings that the processes of `api/` read, for `settings.pick`; on one machine each process receives exactly these. */
import { FILE_SETTINGS } from '#api/files/file-settings.ts';
import { PROCESS_SETTINGS, TRACE_SETTINGS } from '#crds/process/process-settings.ts';
import type { SettingName } from '#crds/process/settings.ts';

/** Settings of processes that use the database and the file store. */
const RECORDS = {
  ...PROCESS_SETTINGS,
  ...TRACE_SETTINGS,
  ...FILE_SETTINGS,
  DATABASE_URL: true,
  MEDIAJOBS_ENCRYPTION_KEYS: true,
} as const;

export const API_SETTINGS = {
  ...RECORDS,
  REDIS_URL: true,
  MEDIAJOBS_NAME: true,
  MEDIAJOBS_BASE_URL: true,
  MEDIAJOBS_DOCS_URL: true,
  MEDIAJOBS_DASHBOARD_URL: true,
  MEDIAJOBS_GRAFANA_URL: true,
  MEDIAJOBS_HIDE_PRICES: true,
  MEDIAJOBS_OIDC_ISSUER: true,
  MEDIAJOBS_OIDC_CLIENT_ID: true,
  MEDIAJOBS_OIDC_CLIENT_SECRET: true,
  MEDIAJOBS_LISTEN_HOST: true,
  MEDIAJOBS_HTTPS_PORT: true,
  MEDIAJOBS_HTTP_PORT: true,
  MEDIAJOBS_TLS_CERT_FILE: true,
  MEDIAJOBS_TLS_KEY_FILE: true,
  MEDIAJOBS_CONNECTIONS: true,
  MEDIAJOBS_CONNECTIONS_PER_ADDRESS: true,
  MEDIAJOBS_STOP_DELAY_SECONDS: true,
  MEDIAJOBS_TRUSTED_PROXIES: true,
  MEDIAJOBS_PRIVATE_TARGETS: true,
  MEDIAJOBS_KEY_PEPPER: true,
  MEDIAJOBS_RECEIPT_KEYS: true,
  MEDIAJOBS_ENGINE_URL: true,
  MEDIAJOBS_ENGINE_KEYS: true,
  MEDIAJOBS_ISOLATION: true,
} as const satisfies Partial<Record<SettingName, true>>;

export const COURIER_SETTINGS = {
  ...RECORDS,
  MEDIAJOBS_PRIVATE_TARGETS: true,
  MEDIAJOBS_EXTRA_CA_FILE: true,
} as const satisfies Partial<Record<SettingName, true>>;

/** Settings of the recorder, in a cluster and within `control`. */
export const RECORDER_SETTINGS = {
  ...RECORDS,
  MEDIAJOBS_BASE_URL: true,
  MEDIAJOBS_OPEN_JOBS: true,
} as const satisfies Partial<Record<SettingName, true>>;

export const CONTROL_SETTINGS = {
  ...RECORDER_SETTINGS,
  MEDIAJOBS_RUNS_SOCKET: true,
  MEDIAJOBS_HEARTBEAT_SOCKET: true,
  MEDIAJOBS_ISOLATION: true,
} as const satisfies Partial<Record<SettingName, true>>;
