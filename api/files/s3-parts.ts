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
import type { OutputTarget } from '#crds/contract/media-job.ts';
import { nullIfNotFound } from './s3-not-found.ts';

/** Number of parts: 8 parts of 2 GiB are 16 GiB, the largest file that a tool of the engine may write. */
const PARTS = 8;

/** Begins a multipart upload. Returns the signed URLs of its parts and of its completion. */
export async function beginParts(
  client: S3Client,
  object: { readonly Bucket: string; readonly Key: string },
  { seconds, bytes }: { readonly seconds: number; readonly bytes: number },
): Promise<OutputTarget['parts']> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(object));
  if (UploadId === undefined) throw new Error('the object store began an upload without an id');
  const expiry = { expiresIn: seconds };
  const numbers = Array.from({ length: PARTS }, (_, index) => index + 1);
  return {
    bytes,
    urls: await Promise.all(
      numbers.map((PartNumber) =>
        getSignedUrl(client, new UploadPartCommand({ ...object, UploadId, PartNumber }), expiry),
      ),
    ),
    completeUrl: await getSignedUrl(client, new CompleteMultipartUploadCommand({ ...object, UploadId }), expiry),
  };
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
