import type { Readable } from 'node:stream';

export interface StoredObject {
  /** Size in bytes. */
  readonly size: number;
  /** Strong ETag in quotes. Changes when the content changes. */
  readonly etag: string;
}

/**
 * Store of inputs and outputs. Both implementations pass `test/contract/file-store.ts`. A key is a path of
 * a-z, 0-9, `_`, `-`, `.` and `/`, such as `uploads/upl_…` or `outputs/job_…/1-…`. No key is a folder of
 * another one. Writes are atomic: a `put` that fails or is interrupted leaves the previous object.
 */
export interface FileStore {
  /**
   * Stores the stream's bytes under the key.
   * @throws FileTooLarge as soon as the stream exceeds `maxBytes`; SizeMismatch when `size` is given and differs.
   */
  put(
    key: string,
    body: Readable,
    limit: { maxBytes: number; size?: number },
  ): Promise<StoredObject & { readonly sha256: string }>;
  /** Returns the bytes of an object or of a range (both ends inclusive); null when there is no object. */
  get(
    key: string,
    range?: { start: number; end: number },
  ): Promise<(StoredObject & { readonly body: Readable }) | null>;
  /** Returns size and ETag; null when there is no object. */
  head(key: string): Promise<StoredObject | null>;
  /** Deletes an object. Does nothing when it is absent. */
  delete(key: string): Promise<void>;
  /** Returns a URL for GET, valid for `seconds`: 404 when the object is absent, 412 when `If-Match` differs. */
  signedGet(key: string, seconds: number): Promise<string>;
  /** Returns a URL for a PUT of the object, valid for `seconds`. */
  signedPut(key: string, seconds: number): Promise<string>;
  /** Begins a multipart object when `size` bytes are too many for one PUT; null when one suffices. */
  beginParts(key: string, size: number): Promise<PartsUpload | null>;
  /** Returns a URL for the PUT of a part, valid for `seconds`. Its response has the part's ETag. */
  signedPart(key: string, part: { uploadId: string; number: number }, seconds: number): Promise<string>;
  /** Returns a URL for the POST with the parts' ETags, S3's CompleteMultipartUpload, valid for `seconds`. */
  signedCompletion(key: string, uploadId: string, seconds: number): Promise<string>;
  /** Aborts multipart objects that were begun before a time and not completed. */
  dropParts(begunBefore: Date): Promise<void>;
  /** Lists the keys with a prefix. */
  list(prefix: string): AsyncIterable<string>;
}

/** Begun multipart object. */
export interface PartsUpload {
  readonly id: string;
  /** Size of each part except the last, in bytes. */
  readonly partBytes: number;
}

async function refuseParts(): Promise<never> {
  throw new Error('This store writes no objects in parts.');
}

/** Methods of a store in which one PUT may have any size. */
export const WITHOUT_PARTS: Pick<FileStore, 'beginParts' | 'signedPart' | 'signedCompletion'> = {
  beginParts: async () => null,
  signedPart: refuseParts,
  signedCompletion: refuseParts,
};

/** Error of a stream that exceeds the size limit. */
export class FileTooLarge extends Error {
  override readonly name = 'FileTooLarge';
}

/** Error of a stream that ended with another number of bytes than announced. */
export class SizeMismatch extends Error {
  override readonly name = 'SizeMismatch';
}
