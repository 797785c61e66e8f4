import { describe, expect, it } from 'vitest';
import { mpegAudioFrameBytes, parseMpegAudioFrame } from '#worker-image/engine/containers/mpeg-audio-frames.ts';

const header = (hex: string): Buffer => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(7)]);

describe('parseMpegAudioFrame', () => {
  it.each([
    ['128 kbit/s at 44,100 Hz', 'fffb9000', { format: 'mp3', length: 417 }],
    ['the same with padding', 'fffb9200', { format: 'mp3', length: 418 }],
    ['MPEG-2, 8 kbit/s at 22,050 Hz', 'fff31000', { format: 'mp3', length: 26 }],
    ['MPEG-2.5, 8 kbit/s at 8,000 Hz', 'ffe31800', { format: 'mp3', length: 72 }],
    ['layer II, 160 kbit/s', 'fffd9000', { format: 'layer12', length: 522 }],
    ['ADTS of 200 bytes', 'fff15080191ffc', { format: 'aac', length: 200 }],
    ['ADTS of the maximum length', 'fff15083ffff', { format: 'aac', length: 8191 }],
    ['ADTS shorter than its header', 'fff1508000ff', null],
    ['ADTS of a reserved sample rate', 'fff17480191ffc', null],
    ['a reserved version', 'ffeb9000', null],
    ['a free bit rate', 'fffb0000', null],
    ['the forbidden bit rate', 'fffbf000', null],
    ['a reserved sample rate', 'fffb9c00', null],
    ['no sync word', 'ff1b9000', null],
  ])('parses %s', (_what, hex, frame) => {
    expect(parseMpegAudioFrame(header(hex), 0)).toEqual(frame);
  });

  it('returns null for a truncated header', () => {
    expect(parseMpegAudioFrame(Buffer.from('fffb900000', 'hex'), 0)).toBeNull();
  });
});

describe('mpegAudioFrameBytes', () => {
  it('returns the length of a frame of the format, and 0 for another one', () => {
    expect(mpegAudioFrameBytes('mp3', header('fffb9000'), 0)).toBe(417);
    expect(mpegAudioFrameBytes('aac', header('fffb9000'), 0)).toBe(0);
  });

  it('returns Infinity for a truncated header, and 0 for other bytes at the end', () => {
    expect(mpegAudioFrameBytes('mp3', Buffer.from('fffb', 'hex'), 0)).toBe(Infinity);
    expect(mpegAudioFrameBytes('mp3', Buffer.from('TAG'), 0)).toBe(0);
    expect(mpegAudioFrameBytes('mp3', Buffer.alloc(0), 0)).toBe(0);
  });
});
