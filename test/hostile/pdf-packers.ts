/** Data that unpacks to zeros by the filters of PDF that Node has no encoder for. */

/** Under RunLengthDecode: a sixty-fourth of the zeros. */
export function runsOfZeros(bytes: number): Buffer {
  const run = Buffer.from([129, 0]);
  return Buffer.concat([Buffer.alloc(Math.ceil(bytes / 128) * 2, run), Buffer.from([128])]);
}

/** Codes that one table has room for, from the single byte on: each stands for one zero more. */
const CODES = 4096 - 258;

/** Under LZWDecode: less than a thousandth of the zeros. */
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

/** Codes become longer one code before they must. */
function codeBits(code: number, known: number): string {
  const width = Math.min(12, Math.max(9, 32 - Math.clz32(known + 1)));
  return code.toString(2).padStart(width, '0');
}
