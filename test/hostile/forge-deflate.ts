/** Writer of Deflate streams that decompress to far more than it takes to write them: a compressed block is repeated. */
import { constants, deflateRawSync } from 'node:zlib';

export interface DataRun {
  readonly data: Buffer;
  readonly times: number;
}

const BLOCK_BYTES = 1024 ** 2;
/** Final block without data. */
const END = Buffer.from([0x03, 0x00]);
const ZLIB_HEADER = Buffer.from([0x78, 0xda]);
const ADLER_BASE = 65_521n;

/** Returns the raw Deflate stream of the runs. After a full flush a block does not refer to the data before it. */
export function deflateRuns(runs: readonly DataRun[]): Buffer {
  const pieces = runs.flatMap(({ data, times }) => {
    const piece = deflateRawSync(data, { level: 9, finishFlush: constants.Z_FULL_FLUSH });
    return Array.from({ length: times }, () => piece);
  });
  return Buffer.concat([...pieces, END]);
}

/** Returns the zlib stream of that many equal bytes. */
export function deflateEqualBytes(count: number, value = 0): Buffer {
  const runs = equalBytes(count, value);
  return Buffer.concat([ZLIB_HEADER, deflateRuns(runs), adlerOfEqualBytes(BigInt(count), BigInt(value))]);
}

/** Returns the runs of that many equal bytes. */
export function equalBytes(count: number, value = 0): DataRun[] {
  return [
    { data: Buffer.alloc(BLOCK_BYTES, value), times: Math.floor(count / BLOCK_BYTES) },
    { data: Buffer.alloc(count % BLOCK_BYTES, value), times: 1 },
  ];
}

/** Returns the Adler-32 checksum (RFC 1950) of equal bytes. */
function adlerOfEqualBytes(count: bigint, value: bigint): Buffer {
  const sum = (1n + value * count) % ADLER_BASE;
  const sumOfSums = (count + (value * count * (count + 1n)) / 2n) % ADLER_BASE;
  const checksum = Buffer.alloc(4);
  checksum.writeUInt16BE(Number(sumOfSums), 0);
  checksum.writeUInt16BE(Number(sum), 2);
  return checksum;
}
