/**
 * Watches the headers of the parts of a multipart body on their way: the parser cuts them off at its own
 * limit without a word, and would go on with half a name.
 *
 *   content ── delimiter ──► headers ── empty line ──► content …
 *                            headers ── "--" ──► epilogue
 */

/** Bytes of one part's headers, many times what the longest file name needs. */
export const PART_HEADER_BYTES = 16 * 1024;

type Place = 'content' | 'headers' | 'epilogue';

const HEADERS_END = '\r\n\r\n';

/**
 * Gives a function that takes the body's chunks in their order and says whether all headers so far keep
 * to `PART_HEADER_BYTES`. It holds at most that many bytes and one chunk.
 */
export function watchPartHeaders(boundary: string): (chunk: Buffer) => boolean {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  let place: Place = 'content';
  // The first delimiter has no line before it.
  let pending: Buffer = Buffer.from('\r\n');
  const leaveContent = (): boolean => {
    const found = pending.indexOf(delimiter);
    if (found !== -1) place = 'headers';
    // A delimiter may be split between two chunks.
    pending = pending.subarray(found === -1 ? -(delimiter.length - 1) : found + delimiter.length);
    return found !== -1;
  };
  const leaveHeaders = (): boolean => {
    const found = pending.indexOf(HEADERS_END);
    if (pending.subarray(0, 2).toString('latin1') === '--') place = 'epilogue';
    else if (found !== -1 && found <= PART_HEADER_BYTES) place = 'content';
    else return false;
    // The end of this line may begin the next delimiter.
    pending = pending.subarray(found + HEADERS_END.length - 2);
    return true;
  };
  return (chunk) => {
    if (place === 'epilogue') return true;
    pending = Buffer.concat([pending, chunk]);
    while (place === 'content' ? leaveContent() : place === 'headers' && leaveHeaders());
    return place !== 'headers' || pending.length <= PART_HEADER_BYTES;
  };
}
