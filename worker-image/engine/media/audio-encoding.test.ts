import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import { engineDeps, freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { draw } from '#test/fixtures/make-media-fixtures.ts';
import {
  encoderOptions,
  isLossless,
  nearestRate,
  roundingWarnings,
  tierRate,
  type AudioEncoding,
} from '#worker-image/engine/media/audio-encoding.ts';
import { audioHandler } from '#worker-image/engine/media/audio-handler.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';

function stream(over: Partial<MediaStream> = {}): MediaStream {
  return { codec_name: 'flac', channels: 2, channel_layout: 'stereo', bits_per_raw_sample: 16, ...over } as MediaStream;
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

describe('the channels of a file', () => {
  const AMPLITUDE = 0.2;
  const RATE = 48_000;
  let directory = '';

  beforeAll(async () => {
    directory = await freshDirectory();
  });

  /** Returns the frequency of a channel's tone in Hz, low enough for a channel of low frequencies. */
  const hertzOf = (channel: number): number => 60 + 10 * channel;

  /** Compresses a WAV file with another tone in each channel. Returns its layout and the tones of its channels. */
  async function compressTones(
    [layout, count]: readonly [string, number],
    audio: SentOptions['audio'],
  ): Promise<readonly [string | undefined, readonly (number | null)[]]> {
    const tones = Array.from({ length: count }, (_, index) => `${AMPLITUDE}*sin(${hertzOf(index)}*2*PI*t)`);
    const args = ['-f', 'lavfi', '-i', `aevalsrc='${tones.join('|')}':s=${RATE}:d=1:c=${layout}`];
    const source = await draw(engineDeps().run, directory, { format: 'wav', name: 'tones', args });
    const work = await workOn({ ...source, operation: 'compress', options: { audio } });
    const { path, facts } = await runHandler(audioHandler, work);
    const [track] = facts.probe.audio;
    return [track?.channel_layout, await tonesOf(path, track?.channels ?? 0)];
  }

  /** Returns the tone of each channel; null for a channel without one, or with a lower level. */
  async function tonesOf(path: string, channels: number): Promise<(number | null)[]> {
    const raw = { format: 'wav', name: 'decoded', args: ['-i', path, '-ar', String(RATE), '-f', 'f32le'] } as const;
    const { path: samples } = await draw(engineDeps().run, directory, raw);
    const bytes = await readFile(samples);
    const found = (channel: number, hertz: number): boolean => {
      let [real, imaginary] = [0, 0];
      for (let index = RATE / 4; index < (RATE * 3) / 4; index++) {
        const sample = bytes.readFloatLE((index * channels + channel) * 4);
        real += sample * Math.cos((2 * Math.PI * hertz * index) / RATE);
        imaginary += sample * Math.sin((2 * Math.PI * hertz * index) / RATE);
      }
      return Math.hypot(real, imaginary) / (RATE / 4) > AMPLITUDE * 0.85;
    };
    return Array.from({ length: channels }, (_, channel) => {
      const tone = [0, 1, 2, 3, 4, 5, 6, 7].find((index) => found(channel, hertzOf(index)));
      return tone ?? null;
    });
  }

  it.each(['aac', 'alac', 'flac', 'mp3', 'ogg', 'opus', 'wav'] as const)(
    'are mono and stereo in %s when they are named after other speakers',
    async (format) => {
      const quality = 'maximum';
      // A sample rate that differs from the source's, which needs a resampler.
      const audio = { format, quality, sample_rate_hz: 24_000 } as const;
      expect(await compressTones(['FL', 1], audio)).toEqual([expect.stringMatching(/^(?:mono)?$/), [0]]);
      expect(await compressTones(['BL+BR', 2], audio)).toEqual([expect.stringMatching(/^(?:stereo)?$/), [0, 1]]);
    },
  );

  it('are mixed to mono when they are named after other speakers', async () => {
    const [layout] = await compressTones(['SL+SR', 2], { format: 'opus', channels: 'mono' });
    expect(layout).toBe('mono');
  });

  it.each([
    ['opus', '5.0', 5, '5.0'],
    ['opus', '5.1(side)', 6, '5.1'],
    ['opus', '6.1', 7, '6.1'],
    ['opus', '7.1', 8, '7.1'],
    ['opus', '7.1(wide)', 8, '7.1'],
    ['m4a', '5.0(side)', 5, '5.0'],
    ['m4a', '5.1(side)', 6, '5.1'],
    ['alac', '5.1(side)', 6, '5.1'],
    ['alac', '7.1', 8, '7.1(wide)'],
  ] as const)('keep their order and level in %s of %s', async (format, layout, count, expected) => {
    const tones = Array.from({ length: count }, (_, index) => index);
    expect(await compressTones([layout, count], { format, quality: 'maximum' })).toEqual([expected, tones]);
  });

  it.each([
    ['opus', '2.1', 3, '5.1', [0, 1, null, 2, null, null]],
    ['alac', '2.1', 3, '5.1', [0, 1, null, 2, null, null]],
    ['alac', '3.1', 4, '5.1', [0, 1, 2, 3, null, null]],
    ['opus', '6.1(back)', 7, '6.1', [0, 1, 2, 3, 6, 4, 5]],
  ] as const)('are all kept in %s of %s', async (format, layout, count, expected, tones) => {
    expect(await compressTones([layout, count], { format, quality: 'maximum' })).toEqual([expected, tones]);
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
