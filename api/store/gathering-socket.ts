import { Socket } from 'node:net';
import { nextTick } from 'node:process';

type Sent = (error?: Error | null) => void;

/**
 * A socket that sends with one system call what is written in one turn of the event loop, such as the statements of a
 * transaction that are sent together. Each call wakes the server, which often costs more than the statement itself.
 */
export class GatheringSocket extends Socket {
  #isGathering = false;

  override write(chunk: Uint8Array | string, onSent?: Sent): boolean;
  override write(chunk: Uint8Array | string, encoding?: BufferEncoding, onSent?: Sent): boolean;
  override write(chunk: Uint8Array | string, encoding?: BufferEncoding | Sent, onSent?: Sent): boolean {
    this.#gather();
    return typeof encoding === 'function' ? super.write(chunk, encoding) : super.write(chunk, encoding, onSent);
  }

  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.cork();
    nextTick(() => {
      this.#isGathering = false;
      this.uncork();
    });
  }
}
