/**
 * Frees the memory of arrays that are not used any more; their length is 0 afterwards. V8 would free them when it collects
 * garbage, but counts them as growth of its heap: it marks the whole heap after every 8 MB of them. Arrays that share their
 * memory with others are left alone.
 */
export function releaseMemory(...arrays: readonly (Uint8Array | Uint16Array | Uint32Array)[]): void {
  for (const { buffer, byteLength } of arrays) {
    if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) buffer.transfer(0);
  }
}
