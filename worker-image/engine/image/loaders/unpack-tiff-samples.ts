interface SampleRow {
  readonly out: Uint16Array;
  /** Index of the first sample in `out`. */
  readonly at: number;
  /** Distance between two samples in `out`. */
  readonly step: number;
  readonly count: number;
}

interface SampleCoding {
  /** Bits per sample: 2 to 16, 24 or 32. */
  readonly bits: number;
  /** Byte order of samples of whole bytes. */
  readonly isLittle: boolean;
  /** True when white is 0. */
  readonly isInverted: boolean;
  /** True for half floats, in which white is 1. */
  readonly isFloat: boolean;
}

const FULL = 0xffff;

/** Unpacks a row of samples, the highest bit first, as numbers from 0 to 65,535. */
export function unpackSamples(
  row: Buffer,
  { out, at, step, count }: SampleRow,
  { bits, isLittle, isInverted, isFloat }: SampleCoding,
): void {
  const read = isFloat ? half(row, isLittle) : bits > 16 ? highest(row, bits / 8, isLittle) : packed(row, bits);
  for (let sample = 0; sample < count; sample += 1) {
    const value = read(sample);
    out[at + sample * step] = isInverted ? FULL - value : value;
  }
}

/** Returns a reader of the two highest bytes of a sample. */
function highest(row: Buffer, bytes: number, isLittle: boolean): (sample: number) => number {
  return isLittle
    ? (sample) => ((row[(sample + 1) * bytes - 1] ?? 0) << 8) | (row[(sample + 1) * bytes - 2] ?? 0)
    : (sample) => ((row[sample * bytes] ?? 0) << 8) | (row[sample * bytes + 1] ?? 0);
}

function packed(row: Buffer, bits: number): (sample: number) => number {
  const most = (1 << bits) - 1;
  return (sample) => {
    const [byte, skipped] = [Math.floor((sample * bits) / 8), (sample * bits) % 8];
    const three = ((row[byte] ?? 0) << 16) | ((row[byte + 1] ?? 0) << 8) | (row[byte + 2] ?? 0);
    return Math.round((((three >>> (24 - skipped - bits)) & most) * FULL) / most);
  };
}

/** Returns a reader of half floats: a sign, five bits of exponent, ten of the fraction (IEEE 754). */
function half(row: Buffer, isLittle: boolean): (sample: number) => number {
  return (sample) => {
    const number = isLittle ? row.readUInt16LE(sample * 2) : row.readUInt16BE(sample * 2);
    const [exponent, fraction] = [(number >> 10) & 31, (number & 1023) / 1024];
    const value = exponent === 0 ? fraction * 2 ** -14 : (1 + fraction) * 2 ** (exponent - 15);
    return number > 0x7fff ? 0 : Math.round(Math.min(1, value) * FULL);
  };
}
