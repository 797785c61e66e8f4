/** Encoders of zeros for PDF filters that Node cannot encode. */

/** Returns zeros encoded for RunLengthDecode, to 1/64 of their length. */
export function runsOfZeros(bytes: number): Buffer {
  const run = Buffer.from([129, 0]);
  return Buffer.concat([Buffer.alloc(Math.ceil(bytes / 128) * 2, run), Buffer.from([128])]);
}

/** Number of codes in a full table. Each one represents one more zero than the previous one. */
const CODES = 4096 - 258;

/** Returns zeros encoded for LZWDecode, to less than 1/1000 of their length. */
export function lzwOfZeros(bytes: number): Buffer {
  const tables = Math.ceil(bytes / ((CODES * (CODES + 1)) / 2));
  const bits = ['100000000'];
  for (let table = 0; table < tables; table += 1) {
    for (let code = 0; code < CODES; code += 1) bits.push(codeBits(code === 0 ? 0 : 257 + code, 257 + code));
    bits.push(codeBits(256, 4095));
  }
  bits.push('100000001');
  const all = bits.join('').match(/.{1,8}/g) ?? [];
  return Buffer.from(all.map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));
}

/** Returns the digits of a code. Codes become longer one code early, as with `EarlyChange 1`. */
function codeBits(code: number, known: number): string {
  const width = Math.min(12, Math.max(9, 32 - Math.clz32(known + 1)));
  return code.toString(2).padStart(width, '0');
}
