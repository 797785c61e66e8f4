import type { Readable } from 'node:stream';
import type { OutputTarget } from '#crds/media-job.ts';

export interface StoredObject {
  /** Bytes. */
  readonly size: number;
  /** Strong, in quotes. Changes when the content changes. */
  readonly etag: string;
}

/**
 * Where inputs and outputs are kept. Both homes pass `test/contract/file-store.ts`. A key is a path of
 * a-z, 0-9, `_`, `-`, `.` and `/`, such as `uploads/upl_…` or `outputs/job_…/1-…`. No key is a folder of
 * another one. An object is there whole or not at all: a `put` that fails or is cut off leaves what was
 * there before.
 */
export interface FileStore {
  /**
   * Stores the stream's bytes under the key.
   * @throws FileTooLarge as soon as more than `maxBytes` came; SizeMismatch when `size` is given and differs.
   */
  put(
    key: string,
    body: Readable,
    limit: { maxBytes: number; size?: number },
  ): Promise<StoredObject & { readonly sha256: string }>;
  /** The object's bytes, or of a part of it (both ends included); null when there is none. */
  get(
    key: string,
    range?: { start: number; end: number },
  ): Promise<(StoredObject & { readonly body: Readable }) | null>;
  head(key: string): Promise<StoredObject | null>;
  /** No error when it is gone already. */
  delete(key: string): Promise<void>;
  /** A URL that answers GET with the object for so many seconds: 404 when gone, 412 when `If-Match` differs. */
  signedGet(key: string, seconds: number): Promise<string>;
  /** A URL that takes a PUT of the object for so many seconds. */
  signedPut(key: string, seconds: number): Promise<string>;
  /** Begins an object in parts and signs their URLs for so many seconds; null where one PUT takes any size. */
  beginParts(key: string, seconds: number): Promise<OutputTarget['parts']>;
  /** Gives up objects in parts that were begun before then and never completed. */
  dropParts(begunBefore: Date): Promise<void>;
  /** Keys below a prefix, for sweeps. */
  list(prefix: string): AsyncIterable<string>;
}

/** More bytes came than allowed. */
export class FileTooLarge extends Error {
  override readonly name = 'FileTooLarge';
}

/** The stream ended with another number of bytes than announced. */
export class SizeMismatch extends Error {
  override readonly name = 'SizeMismatch';
}
