import { createHash } from 'node:crypto';
import { Duplex, type Readable, type Writable } from 'node:stream';
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
  readonly refusalOf: (size: number) => Error | null;
  /** Whether `sha256` is needed. */
  readonly hashes: boolean;
}

/**
 * Returns the file as a stream that counts and optionally hashes it, keeps the first bytes and limits the size. What arrives
 * in one iteration of the event loop leaves as one chunk: TLS yields records of 16 KiB, and each chunk costs a write to the engine.
 */
export function watchBody(file: Readable, { refusalOf, hashes }: WatchOptions): WatchedBody {
  const hash = hashes ? createHash('sha256') : null;
  const first = collectFirstBytes();
  const { promise: firstBytes, resolve, reject } = Promise.withResolvers<Buffer>();
  let size = 0;
  let onRead = (): void => undefined;
  const passing = new Duplex({
    writev(parts, done) {
      const chunk = Buffer.concat(parts.map((part) => part.chunk as Buffer));
      size += chunk.length;
      hash?.update(chunk);
      first.add(chunk);
      const refusal = refusalOf(size);
      if (refusal !== null) return done(refusal);
      if (first.suffice()) resolve(first.bytes());
      if (passing.push(chunk)) done();
      else onRead = done;
    },
    read() {
      const proceed = onRead;
      onRead = () => undefined;
      proceed();
    },
    final(done) {
      resolve(first.bytes());
      passing.push(null);
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
  corkByIteration(file, passing);
  return { file: file.pipe(passing), firstBytes, size: () => size, sha256 };
}

/** Corks the writer from a chunk of the file to the end of that iteration of the event loop. */
function corkByIteration(file: Readable, writer: Writable): void {
  let isCorked = false;
  file.on('data', () => {
    if (isCorked) return;
    isCorked = true;
    writer.cork();
    setImmediate(() => {
      isCorked = false;
      writer.uncork();
    });
  });
}
