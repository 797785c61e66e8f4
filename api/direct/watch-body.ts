import { createHash } from 'node:crypto';
import { Transform, type Readable } from 'node:stream';
import { collectFirstBytes } from '#crds/contract/first-bytes.ts';

export interface WatchedBody {
  readonly file: Readable;
  /** First bytes, once they suffice to classify the file or it has ended. Rejects when its stream fails before. */
  readonly firstBytes: Promise<Buffer>;
  /** Returns the number of bytes so far. */
  readonly size: () => number;
  /** Returns the SHA-256 of all bytes in hex; throws when the body is not hashed. */
  readonly sha256: () => string;
}

interface WatchOptions {
  /** Returns the error for a file of at least `size` bytes; null when the size is allowed. */
  readonly sizeRefusal: (size: number) => Error | null;
  /** Whether `sha256` is needed. */
  readonly hashes: boolean;
}

/** Returns the file as a stream that counts and optionally hashes it, keeps the first bytes and limits the size. */
export function watchBody(file: Readable, { sizeRefusal, hashes }: WatchOptions): WatchedBody {
  const hash = hashes ? createHash('sha256') : null;
  const first = collectFirstBytes();
  const { promise: firstBytes, resolve, reject } = Promise.withResolvers<Buffer>();
  let size = 0;
  const passing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      hash?.update(chunk);
      first.add(chunk);
      const refusal = sizeRefusal(size);
      if (refusal === null && first.suffice()) resolve(first.bytes());
      done(refusal, chunk);
    },
    flush(done) {
      resolve(first.bytes());
      done();
    },
  });
  file.once('error', (error) => passing.destroy(error));
  // Without a listener, an error before the stream has a reader would end the process. The reader gets it later.
  passing.on('error', reject);
  const sha256 = (): string => {
    if (hash === null) throw new Error('this body is not hashed');
    return hash.digest('hex');
  };
  return { file: file.pipe(passing), firstBytes, size: () => size, sha256 };
}
