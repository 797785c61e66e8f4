import { Duplex, type Readable } from 'node:stream';

/**
 * Returns the stream's bytes, where what arrives in one iteration of the event loop is one chunk. TLS yields records of
 * 16 KiB, and each chunk costs its way through the later streams and a write to the next process. Errors of the source are
 * not passed on. `onChunk` is called with each chunk.
 */
export function gatherChunks(source: Readable, onChunk: (chunk: Buffer) => void): Duplex {
  let onRead = (): void => undefined;
  const gathered = new Duplex({
    writev(parts, done) {
      const chunks = parts.map((part) => part.chunk as Buffer);
      const chunk = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
      onChunk(chunk);
      if (gathered.push(chunk)) done();
      else onRead = done;
    },
    read() {
      const proceed = onRead;
      onRead = () => undefined;
      proceed();
    },
    final(done) {
      gathered.push(null);
      done();
    },
  });
  let isCorked = false;
  source.on('data', () => {
    if (isCorked) return;
    isCorked = true;
    gathered.cork();
    setImmediate(() => {
      isCorked = false;
      gathered.uncork();
    });
  });
  return source.pipe(gathered);
}
