import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import {
  ADTS_FRAME,
  endsInsideFrame,
  MP3_FRAME,
  PROGRAM_STREAM_PACKET,
  type FrameFormat,
} from '#worker-image/engine/media/frame-chain.ts';

/** An ADTS frame of 100 bytes: AAC-LC, 44,100 Hz, stereo. */
const adts = (): Buffer => {
  const frame = Buffer.alloc(100, 1);
  Buffer.from('fff150800c9ffc', 'hex').copy(frame);
  return frame;
};
/** An MP3 frame of 417 bytes: MPEG-1 layer III, 128 kbit/s, 44,100 Hz. */
const mp3 = (): Buffer => {
  const frame = Buffer.alloc(417, 1);
  Buffer.from('fffb9000', 'hex').copy(frame);
  return frame;
};
/** A packet of 106 bytes, a pack header of MPEG-2 with two stuffing bytes, and the end code. */
const packet = (): Buffer => Buffer.concat([Buffer.from('000001e00064', 'hex'), Buffer.alloc(100, 1)]);
const pack = (): Buffer => Buffer.from('000001ba44000400040100000ffaffff', 'hex');
const END = Buffer.from('000001b9', 'hex');

const chain = (frame: () => Buffer, count = 5): Buffer => Buffer.concat(Array.from({ length: count }, frame));

describe('endsInsideFrame', () => {
  it.each<readonly [string, FrameFormat, Buffer]>([
    ['ADTS', ADTS_FRAME, chain(adts)],
    ['MP3', MP3_FRAME, chain(mp3)],
    ['MPEG program stream', PROGRAM_STREAM_PACKET, Buffer.concat([pack(), chain(packet)])],
  ])('finds the truncation of %s at any byte of the last frame', async (_name, format, bytes) => {
    expect(await endsInsideFrame(fileReaderOf(bytes), format)).toBe(false);
    for (const missing of [1, 2, 50, 93])
      expect(await endsInsideFrame(fileReaderOf(bytes.subarray(0, -missing)), format)).toBe(true);
  });

  it('accepts a tag behind the last frame, and other bytes in front of the first', async () => {
    const tagged = Buffer.concat([Buffer.from('ID3 or so'), chain(mp3), Buffer.from('TAG'), Buffer.alloc(125)]);
    expect(await endsInsideFrame(fileReaderOf(tagged), MP3_FRAME)).toBe(false);
  });

  it('accepts the end code of a program stream', async () => {
    const whole = Buffer.concat([chain(packet), END]);
    expect(await endsInsideFrame(fileReaderOf(whole), PROGRAM_STREAM_PACKET)).toBe(false);
  });

  it('does not count two frames as a chain', async () => {
    expect(await endsInsideFrame(fileReaderOf(chain(adts, 2).subarray(0, -1)), ADTS_FRAME)).toBe(false);
  });

  it('returns false for an empty file and for bytes without frames', async () => {
    expect(await endsInsideFrame(fileReaderOf(Buffer.alloc(0)), ADTS_FRAME)).toBe(false);
    expect(await endsInsideFrame(fileReaderOf(Buffer.alloc(70_000, 0xff)), MP3_FRAME)).toBe(false);
  });

  it('reads the tail window alone of a longer file', async () => {
    const long = Buffer.concat([chain(adts), Buffer.alloc(ADTS_FRAME.tailBytes)]);
    expect(await endsInsideFrame(fileReaderOf(long), ADTS_FRAME)).toBe(false);
    expect(await endsInsideFrame(fileReaderOf(Buffer.concat([long, chain(adts).subarray(0, -1)])), ADTS_FRAME)).toBe(
      true,
    );
  });
});
