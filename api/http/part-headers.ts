/**
 * Limit on the headers of a multipart body's parts: the parser silently truncates them at its own limit and would use
 * half a file name.
 *
 *   content ── delimiter ──► headers ── empty line ──► content …
 *                            headers ── "--" ──► epilogue
 */

/** Maximum size of one part's headers, in bytes: many times the longest file name. */
export const PART_HEADER_BYTES = 16 * 1024;

type Section = 'content' | 'headers' | 'epilogue';

const HEADERS_END = '\r\n\r\n';

/**
 * Returns a function that takes the chunks of a body in order and returns whether all headers so far are within
 * `PART_HEADER_BYTES`. It buffers at most that many bytes and one chunk.
 */
export function watchPartHeaders(boundary: string): (chunk: Buffer) => boolean {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  let section: Section = 'content';
  // The first delimiter has no preceding line break.
  let pending: Buffer = Buffer.from('\r\n');
  const passContent = (): boolean => {
    const found = pending.indexOf(delimiter);
    if (found !== -1) section = 'headers';
    // A delimiter may be split between two chunks.
    pending = pending.subarray(found === -1 ? -(delimiter.length - 1) : found + delimiter.length);
    return found !== -1;
  };
  const passHeaders = (): boolean => {
    const found = pending.indexOf(HEADERS_END);
    if (pending.subarray(0, 2).toString('latin1') === '--') section = 'epilogue';
    else if (found !== -1 && found <= PART_HEADER_BYTES) section = 'content';
    else return false;
    // The line break that ends the headers may begin the next delimiter.
    pending = pending.subarray(found + HEADERS_END.length - 2);
    return true;
  };
  return (chunk) => {
    if (section === 'epilogue') return true;
    pending = Buffer.concat([pending, chunk]);
    while (section === 'content' ? passContent() : section === 'headers' && passHeaders());
    return section !== 'headers' || pending.length <= PART_HEADER_BYTES;
  };
}
