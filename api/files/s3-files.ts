/**
 * File store in an S3 bucket. An object is written in one request, or in parts that become one object at the end. Until
 * then, and after a failure, the previous object stays. Several processes may use one bucket.
 *
 * URLs are signed with the credentials of this process. URLs signed with temporary credentials expire with them, so
 * workers request each URL when they use it.
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
import { nullIfNotFound } from './s3-not-found.ts';
import { beginParts, dropParts, signedCompletion, signedPart } from './s3-parts.ts';

export interface S3Options {
  readonly bucket: string;
  readonly region: string;
  /** Address of the S3 API; null: AWS in the region. */
  readonly endpoint: string | null;
  /** Whether the bucket is in the path instead of the host name. */
  readonly pathStyle: boolean;
  /** Part size of multipart objects that workers write, in bytes; default 2 GiB, minimum of S3 5 MiB. */
  readonly partBytes?: number;
  /** null: the SDK's own sources, such as a role of the pod's service account. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
}

export interface S3Files extends FileStore {
  /** Returns the problem and how to fix it; null when the bucket responds. */
  problem(): Promise<string | null>;
  close(): void;
}

const MB = 1024 ** 2;
const GB = 1024 ** 3;
const PART_BYTES = 8 * MB;
/** Maximum number of parts in S3. */
const MAX_PARTS = 10_000;
/** Concurrent uploads of parts of one object; each part is in memory. */
const CONCURRENT_PARTS = 2;
const RESPONSE_TIMEOUT_MS = 5000;
/**
 * Each object that is being read has a connection until its reader has all of it. With the SDK's limit of 50, as many
 * callers who do not read their downloads would stop all uploads and downloads. Callers' own connections are limited.
 */
const UNLIMITED = { maxSockets: Infinity } as const;

/** Opens the store in a bucket. */
export function openS3Files(options: S3Options): S3Files {
  const client = new S3Client({
    region: options.region,
    forcePathStyle: options.pathStyle,
    // Servers other than Amazon's may reject or ignore the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { httpAgent: UNLIMITED, httpsAgent: UNLIMITED },
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
        queueSize: CONCURRENT_PARTS,
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
      const found = await nullIfNotFound(client.send(new GetObjectCommand({ ...object(key), ...Range })));
      if (found === null) return null;
      const size = Number(found.ContentRange?.split('/')[1] ?? found.ContentLength);
      return { size, etag: quoted(found.ETag), body: found.Body as Readable };
    },
    head: async (key) => {
      const found = await nullIfNotFound(client.send(new HeadObjectCommand(object(key))));
      return found === null ? null : { size: Number(found.ContentLength), etag: quoted(found.ETag) };
    },
    delete: async (key) => {
      await nullIfNotFound(client.send(new DeleteObjectCommand(object(key))));
    },
    signedGet: async (key, seconds) => getSignedUrl(client, new GetObjectCommand(object(key)), { expiresIn: seconds }),
    signedPut: async (key, seconds) => getSignedUrl(client, new PutObjectCommand(object(key)), { expiresIn: seconds }),
    beginParts: async (key, size) => {
      const { partBytes = 2 * GB } = options;
      return size <= partBytes ? null : { id: await beginParts(client, object(key)), partBytes };
    },
    signedPart: (key, part, expiresIn) => signedPart(client, object(key), { ...part, expiresIn }),
    signedCompletion: (key, uploadId, expiresIn) => signedCompletion(client, object(key), { uploadId, expiresIn }),
    dropParts: (begunBefore) => dropParts(client, options.bucket, begunBefore),
    list: (prefix) => keysBelow(client, options.bucket, prefix),
    problem: () => bucketProblem(client, options),
    close: () => client.destroy(),
  };
}

interface MeasuredBody {
  readonly stream: Readable;
  size(): number;
  sha256(): string;
}

/** Returns the body as a stream that counts and hashes its bytes. It fails when the size is wrong. */
function measure(body: Readable, limit: { maxBytes: number; size?: number }): MeasuredBody {
  const hash = createHash('sha256');
  let size = 0;
  async function* checked(): AsyncGenerator<Buffer> {
    for await (const chunk of body as AsyncIterable<Buffer | string>) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      size += bytes.length;
      if (size > limit.maxBytes) throw new FileTooLarge(`received more than ${limit.maxBytes} bytes`);
      hash.update(bytes);
      yield bytes;
    }
    if (limit.size !== undefined && size !== limit.size) {
      throw new SizeMismatch(`received ${size} bytes; ${limit.size} were announced`);
    }
  }
  const stream = Readable.from(checked(), { objectMode: false });
  return { stream, size: () => size, sha256: () => hash.digest('hex') };
}

/** Returns the ETag in quotes, which some servers omit. */
function quoted(etag: string | undefined): string {
  if (etag === undefined) throw new Error('the response of the object store has no ETag');
  return etag.startsWith('"') ? etag : `"${etag}"`;
}

async function* keysBelow(client: S3Client, bucket: string, prefix: string): AsyncGenerator<string> {
  for await (const page of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix })) {
    for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key;
  }
}

async function bucketProblem(client: S3Client, { bucket, endpoint }: S3Options): Promise<string | null> {
  const subject = `The bucket ${bucket} at ${endpoint ?? 'AWS'}`;
  try {
    const command = new ListObjectsV2Command({ Bucket: bucket, MaxKeys: 1 });
    await client.send(command, { abortSignal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) });
    return null;
  } catch (error) {
    const { name, $metadata } = error instanceof S3ServiceException ? error : { name: '', $metadata: {} };
    if (name === 'NoSuchBucket') return `${subject} does not exist: create it, or correct S3_BUCKET`;
    if (isRefusal($metadata.httpStatusCode ?? 0)) {
      return `${subject} refuses these credentials: check S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY and the policy of the bucket`;
    }
    const reason = error instanceof Error ? error.message || error.name : String(error);
    return `${subject} does not answer (${reason}): check that it runs and that S3_ENDPOINT is right`;
  }
}

/** Returns whether a status is a refusal: servers use different 4xx statuses for wrong credentials. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500;
}
