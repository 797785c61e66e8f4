/** Multipart objects that workers write with signed URLs: S3 accepts at most 5 GiB in one PUT. */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  UploadPartCommand,
  type ListMultipartUploadsCommandInput,
  type ListMultipartUploadsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { nullIfNotFound } from './s3-not-found.ts';

interface S3Object {
  readonly Bucket: string;
  readonly Key: string;
}

/** Begins a multipart upload. Returns its id. */
export async function beginParts(client: S3Client, object: S3Object): Promise<string> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(object));
  if (UploadId === undefined) throw new Error('the object store began an upload without an id');
  return UploadId;
}

/** Returns the URL for the PUT of a part. */
export function signedPart(
  client: S3Client,
  object: S3Object,
  { uploadId, number, expiresIn }: { uploadId: string; number: number; expiresIn: number },
): Promise<string> {
  const part = { ...object, UploadId: uploadId, PartNumber: number };
  return getSignedUrl(client, new UploadPartCommand(part), { expiresIn });
}

/** Returns the URL for the POST that joins the parts. */
export function signedCompletion(
  client: S3Client,
  object: S3Object,
  { uploadId, expiresIn }: { uploadId: string; expiresIn: number },
): Promise<string> {
  return getSignedUrl(client, new CompleteMultipartUploadCommand({ ...object, UploadId: uploadId }), { expiresIn });
}

/** Aborts uploads begun before a time: S3 stores and charges the parts of an incomplete upload until it is aborted. */
export async function dropParts(client: S3Client, Bucket: string, begunBefore: Date): Promise<void> {
  let page: ListMultipartUploadsCommandOutput | null = null;
  do {
    const after: Partial<ListMultipartUploadsCommandInput> =
      page === null ? {} : { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
    page = await client.send(new ListMultipartUploadsCommand({ Bucket, ...after }));
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Initiated !== undefined && Initiated < begunBefore) {
        await nullIfNotFound(client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })));
      }
    }
  } while (page.IsTruncated === true);
}
