/** Content of the file store, read directly: a folder on disk, or the bucket of an S3 server. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { startObjectStore } from '#test/e2e/object-store.ts';
import { startBucketProxy, type BucketProxy } from '#test/faults/bucket-proxy.ts';
import { filesBelow } from '#test/support/files-below.ts';

export interface KeptFiles {
  /** The service's settings for it. */
  readonly settings: Readonly<Record<string, string>>;
  /** Proxy of the bucket; null for files on disk. */
  readonly proxy: BucketProxy | null;
  /** Keys of all objects. */
  objects(): string[];
  /** Returns the keys of partly written objects. */
  halfWritten(): string[];
  close(): Promise<void>;
}

/** Returns the store on disk, the default of the service. `data`: its folder. */
export function keepOnDisk(data: string): KeptFiles {
  return {
    settings: {},
    proxy: null,
    // An object is a folder with one file.
    objects: () => filesBelow(path.join(data, 'files', 'objects')).map((file) => path.dirname(file)),
    halfWritten: () => filesBelow(path.join(data, 'files', '@temp')),
    close: async () => undefined,
  };
}

/** Returns the reason why this machine has no bucket; null when it has one. */
export function whyNoBucket(): string | null {
  const isThere = spawnSync('versitygw', ['--version']).error === undefined;
  return isThere ? null : 'there is no S3 server; hack/cluster/build-binaries versitygw builds one with Go';
}

const BUCKET = 'faults';
/** Folder of the server for unfinished writes. */
const UNFINISHED = '.sgwtmp';

/** Starts an S3 server behind a proxy and returns the store in its bucket. */
export async function keepInBucket(): Promise<KeptFiles> {
  const store = await startObjectStore();
  const folder = await store.makeBucket(BUCKET);
  const proxy = await startBucketProxy(store.endpoint);
  const isUnfinished = (file: string): boolean => file.startsWith(UNFINISHED);
  return {
    settings: {
      S3_BUCKET: BUCKET,
      S3_ENDPOINT: proxy.endpoint,
      S3_PATH_STYLE: 'true',
      S3_ACCESS_KEY_ID: store.credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: store.credentials.secretAccessKey,
    },
    proxy,
    objects: () => filesBelow(folder).filter((file) => !isUnfinished(file)),
    halfWritten: () => filesBelow(folder).filter(isUnfinished),
    close: async () => {
      await proxy.close();
      await store.close();
    },
  };
}
