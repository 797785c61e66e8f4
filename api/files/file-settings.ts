import type { SettingName, Settings } from '#crds/process/settings.ts';

/** Settings of a process that opens the file store, for `settings.pick`. */
export const FILE_SETTINGS = {
  MEDIAJOBS_FILES_DIR: true,
  MEDIAJOBS_FILES_URL: true,
  MEDIAJOBS_LINK_KEYS: true,
  S3_BUCKET: true,
  S3_ENDPOINT: true,
  S3_REGION: true,
  S3_ACCESS_KEY_ID: true,
  S3_SECRET_ACCESS_KEY: true,
  S3_PATH_STYLE: true,
} as const satisfies Partial<Record<SettingName, true>>;

export type FileSettings = Pick<Settings, keyof typeof FILE_SETTINGS>;
