import { openDiskFiles } from '#api/files/disk-files.ts';
import type { FileStore } from '#api/files/file-store.ts';
import type { FileSettings } from '#api/files/file-settings.ts';
import type { Clock } from '#crds/process/clock.ts';
import { ConfigError } from '#crds/process/config.ts';
import { socketOf } from '#crds/process/start-request.ts';

export interface OpenFiles {
  readonly files: FileStore;
  /** Unix socket on which a file server must serve the signed URLs of the disk store; null for a bucket or a port. */
  readonly servedAt: string | null;
  /** Returns the problem and how to fix it; null when the store responds. */
  readonly problem: () => Promise<string | null>;
  readonly close: () => void;
}

/**
 * Opens the file store of the settings: a bucket, or a folder on disk.
 * @throws ConfigError when they name neither or both.
 */
export async function openFiles({ clock }: { readonly clock: Clock }, given: FileSettings): Promise<OpenFiles> {
  const { S3_BUCKET: bucket, MEDIAJOBS_FILES_DIR: directory, MEDIAJOBS_FILES_URL: baseUrl } = given;
  if (bucket !== undefined && directory !== undefined) {
    throw new ConfigError(['S3_BUCKET and MEDIAJOBS_FILES_DIR are both set: set only one of them.']);
  }
  if (bucket !== undefined) return openBucket(given, bucket);
  if (directory === undefined || baseUrl === undefined) {
    throw new ConfigError(['S3_BUCKET: is required, or MEDIAJOBS_FILES_DIR and MEDIAJOBS_FILES_URL for a disk.']);
  }
  const files = await openDiskFiles({ clock, directory, baseUrl, linkKeys: given.MEDIAJOBS_LINK_KEYS });
  return { files, servedAt: socketOf(baseUrl), problem: async () => null, close: () => undefined };
}

async function openBucket(given: FileSettings, bucket: string): Promise<OpenFiles> {
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = given;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new ConfigError(['S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY belong together: set both or neither.']);
  }
  const credentials =
    accessKeyId === undefined || secretAccessKey === undefined ? null : { accessKeyId, secretAccessKey };
  // The S3 client is large: a process with a disk store does not load it.
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
