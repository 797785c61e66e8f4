import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';

/** A file whose format is to be identified. */
export interface SniffedFile extends FileReader {
  /** File name from the caller; distinguishes only what the content cannot. */
  readonly filename: string | null;
}
