import { describe, expect, it } from 'vitest';
import {
  encoderOptions,
  isLossless,
  nearestRate,
  roundingWarnings,
  tierRate,
  type AudioEncoding,
} from '#worker-image/engine/media/audio-encoding.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';

function stream(over: Partial<MediaStream> = {}): MediaStream {
  return { codec_name: 'flac', channels: 2, bits_per_raw_sample: 16, ...over } as MediaStream;
}

function options(over: Partial<AudioEncoding>, source: Partial<MediaStream> = {}): string {
  const encoding: AudioEncoding = {
    codec: 'aac',
    tier: 'balanced',
    bitRate: null,
    sampleRate: 44_100,
    channels: 2,
    ...over,
  };
  return encoderOptions(encoding, stream(source)).join(' ');
}

describe('encoderOptions', () => {
  it.each<readonly [string, Partial<AudioEncoding>, Partial<MediaStream>, string]>([
    ['AAC at the rate of the tier', {}, {}, '-c:a aac -b:a 128000 -ar 44100'],
    ['AAC at a requested rate', { bitRate: 70_000 }, {}, '-c:a aac -b:a 70000 -ar 44100'],
    ['MP3 at the level of the tier', { codec: 'mp3', tier: 'maximum' }, {}, '-c:a libmp3lame -q:a 0 -ar 44100'],
    ['MP3 within its range', { codec: 'mp3', bitRate: 900_000 }, {}, '-c:a libmp3lame -b:a 320000 -ar 44100'],
    [
      'Opus of one channel',
      { codec: 'opus', channels: 1, sampleRate: 48_000 },
      {},
      '-c:a libopus -vbr on -b:a 48000 -ar 48000 -ac 1',
    ],
    ['Vorbis by quality', { codec: 'vorbis' }, {}, '-c:a libvorbis -q:a 4.00 -ar 44100'],
    ['Vorbis between two qualities', { codec: 'vorbis', bitRate: 120_000 }, {}, '-c:a libvorbis -q:a 3.50 -ar 44100'],
    ['Vorbis below quality 0', { codec: 'vorbis', bitRate: 50_000 }, {}, '-c:a libvorbis -b:a 50000 -ar 44100'],
    ['Vorbis at its lowest', { codec: 'vorbis', bitRate: 1000 }, {}, '-c:a libvorbis -b:a 45000 -ar 44100'],
    ['Vorbis above its highest', { codec: 'vorbis', bitRate: 900_000 }, {}, '-c:a libvorbis -q:a 10.00 -ar 44100'],
    [
      'FLAC of 24 bits',
      { codec: 'flac' },
      { bits_per_raw_sample: 24 },
      '-c:a flac -compression_level 8 -sample_fmt s32 -ar 44100',
    ],
    ['ALAC of 16 bits', { codec: 'alac' }, {}, '-c:a alac -sample_fmt s16p -ar 44100'],
    ['PCM of 24 bits', { codec: 'pcm' }, { bits_per_raw_sample: 24 }, '-c:a pcm_s24le -ar 44100'],
    ['PCM of 32 bits', { codec: 'pcm' }, { codec_name: 'pcm_s32be' }, '-c:a pcm_s32le -ar 44100'],
    ['PCM of floats', { codec: 'pcm' }, { codec_name: 'pcm_f64le' }, '-c:a pcm_f32le -ar 44100'],
    [
      'PCM of a lossy source',
      { codec: 'pcm' },
      { codec_name: 'mp3', bits_per_raw_sample: 32 },
      '-c:a pcm_s16le -ar 44100',
    ],
  ])('encodes %s', (_what, encoding, source, expected) => {
    expect(options(encoding, source)).toBe(expected);
  });

  it('selects a channel layout that libopus supports', () => {
    expect(options({ codec: 'opus', channels: 6 }, { channels: 6 })).toContain('-af aformat=channel_layouts=');
  });
});

describe('tierRate', () => {
  it.each([
    [1, 48_000],
    [2, 96_000],
    [6, 288_000],
  ])('of Opus with %d channels is %d bits per second', (channels, rate) => {
    expect(tierRate('opus', 'balanced', channels)).toBe(rate);
  });
});

describe('nearestRate', () => {
  it.each([
    ['opus', 44_100, 48_000],
    ['opus', 96_000, 48_000],
    ['mp3', 7000, 8000],
    ['aac', 96_001, 96_000],
    ['vorbis', 384_000, 192_000],
    ['vorbis', 12_345, 12_345],
    ['flac', 12_345, 12_345],
  ] as const)('of %s for %d Hz is %d Hz', (codec, rate, expected) => {
    expect(nearestRate(codec, rate)).toBe(expected);
  });
});

describe('isLossless', () => {
  it.each([
    ['pcm_s16le', true],
    ['flac', true],
    ['alac', true],
    ['wmalossless', true],
    ['wmav2', false],
    ['flac2', false],
  ])('of %s is %j', (codec, expected) => {
    expect(isLossless(codec)).toBe(expected);
  });
});

describe('roundingWarnings', () => {
  it('warns when FLAC or ALAC rounds 32 bits, and of nothing else', () => {
    const deep = stream({ codec_name: 'pcm_s32le' });
    expect([roundingWarnings('flac', deep).length, roundingWarnings('alac', deep).length]).toEqual([1, 1]);
    expect([
      ...roundingWarnings('pcm', deep),
      ...roundingWarnings('flac', stream({ bits_per_raw_sample: 24 })),
    ]).toEqual([]);
  });
});
