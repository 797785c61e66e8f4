/** Frame headers of MP3 and ADTS (AAC) streams. Sources: ISO/IEC 11172-3, 13818-3 and 13818-7. */

export interface MpegAudioFrame {
  readonly format: 'mp3' | 'aac' | 'layer12';
  /** Length of the frame, in bytes. */
  readonly length: number;
}

/** Size of an ADTS header in bytes; those of the MPEG audio layers are shorter. */
const HEADER_BYTES = 7;

/** Returns the frame that begins at the offset; null when none does, or its header is truncated. */
export function parseMpegAudioFrame(bytes: Buffer, at: number): MpegAudioFrame | null {
  if (at + HEADER_BYTES > bytes.length || bytes[at] !== 0xff) return null;
  const second = bytes.readUInt8(at + 1);
  if ((second & 0xe0) !== 0xe0) return null;
  const layer = (second >> 1) & 3;
  if (layer === 0) return adtsFrame(bytes, at);
  return layer === 1 ? layer3Frame(bytes, at) : layer12Frame(bytes, at);
}

/**
 * Returns the length in bytes of the frame of this format at the offset; 0 when none begins there, Infinity when the
 * bytes end within its header.
 */
export function mpegAudioFrameBytes(format: 'mp3' | 'aac', bytes: Buffer, at: number): number {
  if (at + HEADER_BYTES > bytes.length) return bytes[at] === 0xff ? Infinity : 0;
  const frame = parseMpegAudioFrame(bytes, at);
  return frame?.format === format ? frame.length : 0;
}

/** Parses a sync word of 12 bits and a length of 13 bits. */
function adtsFrame(bytes: Buffer, at: number): MpegAudioFrame | null {
  const isSync = (bytes.readUInt16BE(at) & 0xfff6) === 0xfff0;
  const rateIndex = (bytes.readUInt8(at + 2) >> 2) & 0xf;
  if (!isSync || rateIndex > 12) return null;
  const length = (bytes.readUInt32BE(at + 2) >> 5) & 0x1fff;
  return length > HEADER_BYTES ? { format: 'aac', length } : null;
}

/** Bit rates of layer III in kbit/s, by the header's index. */
const BIT_RATES_V1: readonly number[] = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const BIT_RATES_V2: readonly number[] = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
/** Sample rates of MPEG-1 in Hz, by the header's index. */
const SAMPLE_RATES: readonly number[] = [44_100, 48_000, 32_000];

interface MpegVersion {
  readonly bitRates: readonly number[];
  /** Bytes of a frame are `factor` times kbit/s, divided by the sample rate. */
  readonly factor: number;
  /** Divisor of the table's sample rates. */
  readonly divisor: number;
}

/** Versions 2.5, reserved, 2 and 1 of MPEG audio, by the header's two bits. */
const VERSIONS: readonly (MpegVersion | null)[] = [
  { bitRates: BIT_RATES_V2, factor: 72_000, divisor: 4 },
  null,
  { bitRates: BIT_RATES_V2, factor: 72_000, divisor: 2 },
  { bitRates: BIT_RATES_V1, factor: 144_000, divisor: 1 },
];

function layer3Frame(bytes: Buffer, at: number): MpegAudioFrame | null {
  const version = VERSIONS[(bytes.readUInt8(at + 1) >> 3) & 3] ?? null;
  const third = bytes.readUInt8(at + 2);
  const sampleRate = SAMPLE_RATES[(third >> 2) & 3];
  const kbps = version?.bitRates[third >> 4] ?? 0;
  if (version === null || kbps === 0 || sampleRate === undefined) return null;
  const padding = (third >> 1) & 1;
  return { format: 'mp3', length: Math.floor((version.factor * kbps * version.divisor) / sampleRate) + padding };
}

const BIT_RATES_LAYER2: readonly number[] = [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384];

/** Parses layer II of MPEG-1 only, the one in use: enough to name it in a refusal. */
function layer12Frame(bytes: Buffer, at: number): MpegAudioFrame | null {
  const third = bytes.readUInt8(at + 2);
  const kbps = BIT_RATES_LAYER2[third >> 4] ?? 0;
  const sampleRate = SAMPLE_RATES[(third >> 2) & 3];
  if ((bytes.readUInt8(at + 1) & 0xfe) !== 0xfc || kbps === 0 || sampleRate === undefined) return null;
  return { format: 'layer12', length: Math.floor((144_000 * kbps) / sampleRate) + ((third >> 1) & 1) };
}
