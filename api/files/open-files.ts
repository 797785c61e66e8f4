import { openDiskFiles } from '#api/files/disk-files.ts';
import type { FileStore } from '#api/files/file-store.ts';
import type { FileSettings } from '#api/files/file-settings.ts';
import type { Clock } from '#crds/shared/clock.ts';
import { ConfigError } from '#crds/shared/config.ts';

export interface OpenFiles {
  readonly files: FileStore;
  /** Address that the signed URLs of the store on disk must answer at; null when they are the bucket's. */
  readonly servedAt: URL | null;
  /** null when the store answers, else what is wrong and how to fix it. */
  readonly problem: () => Promise<string | null>;
  readonly close: () => void;
}

/**
 * The file store that the settings name: a bucket, or a folder on disk.
 * @throws ConfigError when they name neither or both.
 */
export async function openFiles({ clock }: { readonly clock: Clock }, given: FileSettings): Promise<OpenFiles> {
  const { S3_BUCKET: bucket, MEDIAJOBS_FILES_DIR: directory, MEDIAJOBS_FILES_URL: baseUrl } = given;
  if (bucket !== undefined && directory !== undefined) {
    throw new ConfigError(['S3_BUCKET and MEDIAJOBS_FILES_DIR are both given: files are kept in one place, give one.']);
  }
  if (bucket !== undefined) return openBucket(given, bucket);
  if (directory === undefined || baseUrl === undefined) {
    throw new ConfigError(['S3_BUCKET: is required, or MEDIAJOBS_FILES_DIR and MEDIAJOBS_FILES_URL for a disk.']);
  }
  const files = await openDiskFiles({ clock, directory, baseUrl, linkKeys: given.MEDIAJOBS_LINK_KEYS });
  return { files, servedAt: new URL(baseUrl), problem: async () => null, close: () => undefined };
}

async function openBucket(given: FileSettings, bucket: string): Promise<OpenFiles> {
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = given;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new ConfigError(['S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY belong together: give both or neither.']);
  }
  const credentials =
    accessKeyId === undefined || secretAccessKey === undefined ? null : { accessKeyId, secretAccessKey };
  // The client of S3 is large: a process with a disk does without.
  const { openS3Files } = await import('#api/files/s3-files.ts');
  const files = openS3Files({
    bucket,
    region: given.S3_REGION,
    endpoint: given.S3_ENDPOINT ?? null,
    pathStyle: given.S3_PATH_STYLE,
    credentials,
  });
  return { files, servedAt: null, problem: () => files.problem(), close: () => files.close() };
}
