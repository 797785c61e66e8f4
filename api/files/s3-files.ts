/**
 * The file store in a bucket of an S3 API. An object is written in one request, or in parts that become one object
 * at the end: until then, and after a failure, what was there before stays. Several processes use one bucket.
 *
 * URLs are signed with the credentials of this process; those of temporary credentials end with them.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  paginateListObjectsV2,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { FileTooLarge, SizeMismatch, type FileStore } from './file-store.ts';
import { checkedKey } from './file-key.ts';
import { orNull } from './s3-answer.ts';
import { beginParts, dropParts } from './s3-parts.ts';

export interface S3Options {
  readonly bucket: string;
  readonly region: string;
  /** null: that of AWS for the region. */
  readonly endpoint: string | null;
  /** true: the bucket is in the path, false: in the host name. */
  readonly pathStyle: boolean;
  /** Of an object that others put in parts; 2 GiB if not given. S3 takes 5 MiB at least. */
  readonly partBytes?: number;
  /** null: where the SDK finds them, such as a role of the pod's service account. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
}

export interface S3Files extends FileStore {
  /** null when the bucket answers, else what is wrong and how to fix it. */
  problem(): Promise<string | null>;
  close(): void;
}

const MB = 1024 ** 2;
const GB = 1024 ** 3;
const PART_BYTES = 8 * MB;
/** S3's own limit. */
const MAX_PARTS = 10_000;
/** Parts of one object on their way at once: each is held in memory. */
const PARTS_AT_ONCE = 2;
const ANSWER_MS = 5000;

export function openS3Files(options: S3Options): S3Files {
  const client = new S3Client({
    region: options.region,
    forcePathStyle: options.pathStyle,
    // Other servers than Amazon's refuse or ignore the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(options.endpoint === null ? {} : { endpoint: options.endpoint }),
    ...(options.credentials === null ? {} : { credentials: options.credentials }),
  });
  const object = (key: string): { Bucket: string; Key: string } => ({ Bucket: options.bucket, Key: checkedKey(key) });

  return {
    put: async (key, body, limit) => {
      const target = object(key);
      const measured = measure(body, limit);
      const upload = new Upload({
        client,
        params: { ...target, Body: measured.stream, ContentType: 'application/octet-stream' },
        partSize: Math.max(PART_BYTES, Math.ceil((limit.size ?? limit.maxBytes) / MAX_PARTS)),
        queueSize: PARTS_AT_ONCE,
      });
      try {
        const { ETag } = await upload.done();
        return { size: measured.size(), sha256: measured.sha256(), etag: quoted(ETag) };
      } finally {
        body.destroy();
      }
    },
    get: async (key, range) => {
      const Range = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` };
      const found = await orNull(client.send(new GetObjectCommand({ ...object(key), ...Range })));
      if (found === null) return null;
      const size = Number(found.ContentRange?.split('/')[1] ?? found.ContentLength);
      return { size, etag: quoted(found.ETag), body: found.Body as Readable };
    },
    head: async (key) => {
      const found = await orNull(client.send(new HeadObjectCommand(object(key))));
      return found === null ? null : { size: Number(found.ContentLength), etag: quoted(found.ETag) };
    },
    delete: async (key) => {
      await orNull(client.send(new DeleteObjectCommand(object(key))));
    },
    signedGet: async (key, seconds) => getSignedUrl(client, new GetObjectCommand(object(key)), { expiresIn: seconds }),
    signedPut: async (key, seconds) => getSignedUrl(client, new PutObjectCommand(object(key)), { expiresIn: seconds }),
    beginParts: (key, seconds) => beginParts(client, object(key), { seconds, bytes: options.partBytes ?? 2 * GB }),
    dropParts: (begunBefore) => dropParts(client, options.bucket, begunBefore),
    list: (prefix) => keysBelow(client, options.bucket, prefix),
    problem: () => bucketProblem(client, options),
    close: () => client.destroy(),
  };
}

interface Measured {
  readonly stream: Readable;
  size(): number;
  sha256(): string;
}

/** Passes the bytes on, counted and hashed; fails instead of ending when they are not as many as they should be. */
function measure(body: Readable, limit: { maxBytes: number; size?: number }): Measured {
  const hash = createHash('sha256');
  let size = 0;
  async function* checked(): AsyncGenerator<Buffer> {
    for await (const chunk of body as AsyncIterable<Buffer | string>) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      size += bytes.length;
      if (size > limit.maxBytes) throw new FileTooLarge(`more than ${limit.maxBytes} bytes came`);
      hash.update(bytes);
      yield bytes;
    }
    if (limit.size !== undefined && size !== limit.size) {
      throw new SizeMismatch(`${size} bytes came, ${limit.size} were announced`);
    }
  }
  const stream = Readable.from(checked(), { objectMode: false });
  return { stream, size: () => size, sha256: () => hash.digest('hex') };
}

/** Some servers leave the quotes out. */
function quoted(etag: string | undefined): string {
  if (etag === undefined) throw new Error('the object store answered without an ETag');
  return etag.startsWith('"') ? etag : `"${etag}"`;
}

async function* keysBelow(client: S3Client, bucket: string, prefix: string): AsyncGenerator<string> {
  for await (const page of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix })) {
    for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key;
  }
}

async function bucketProblem(client: S3Client, { bucket, endpoint }: S3Options): Promise<string | null> {
  const place = `The bucket ${bucket} at ${endpoint ?? 'AWS'}`;
  try {
    const asked = new ListObjectsV2Command({ Bucket: bucket, MaxKeys: 1 });
    await client.send(asked, { abortSignal: AbortSignal.timeout(ANSWER_MS) });
    return null;
  } catch (error) {
    const { name, $metadata } = error instanceof S3ServiceException ? error : { name: '', $metadata: {} };
    if (name === 'NoSuchBucket') return `${place} does not exist: create it, or correct S3_BUCKET`;
    if (isRefusal($metadata.httpStatusCode ?? 0)) {
      return `${place} refuses these credentials: check S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY and the policy of the bucket`;
    }
    const reason = error instanceof Error ? error.message || error.name : String(error);
    return `${place} does not answer (${reason}): check that it runs and that S3_ENDPOINT is right`;
  }
}

/** Which status tells of wrong credentials differs between servers. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500;
}
