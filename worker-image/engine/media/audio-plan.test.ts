import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import { parseJsonOptions, resolveOptions } from '#crds/catalogue/options/options.ts';
import { engineDeps, freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { draw } from '#test/fixtures/make-media-fixtures.ts';
import { audioHandler } from '#worker-image/engine/media/audio-handler.ts';
import {
  isCopy,
  planCompress,
  planConvert,
  planStrip,
  withPauses,
  withSilentEnd,
  type AudioPlan,
} from '#worker-image/engine/media/audio-plan.ts';
import type { Probe } from '#worker-image/engine/media/probe.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';

function probeOf(stream: Partial<MediaStream>, over: Partial<Probe> = {}): Probe {
  const track = {
    index: 1,
    codec_name: 'mp3',
    sample_rate: 44_100,
    channels: 2,
    channel_layout: 'stereo',
    bit_rate: 0,
    bits_per_raw_sample: 0,
    ...stream,
  };
  return {
    format: 'mp3',
    audio: [track],
    cover: null,
    covers: 0,
    bitRate: 0,
    ends: new Map([[1, 60]]),
    hasBrokenAudio: false,
    undecodableAudio: 0,
    ...over,
  } as unknown as Probe;
}

const compress = (probe: Probe, audio: SentOptions['audio'] = {}): AudioPlan =>
  planCompress(probe, resolveOptions(parseJsonOptions({ audio })).audio);
const text = ({ outputOptions }: AudioPlan): string => outputOptions.join(' ');

const WAV = probeOf({ codec_name: 'pcm_s16le' }, { format: 'wav' });

describe('planCompress', () => {
  it('encodes with the first audio track at the bit rate of the tier', () => {
    const plan = compress(WAV);
    expect(plan.format).toBe('aac');
    expect(text(plan)).toContain('-map 0:1');
    expect(text(plan)).toContain('-c:a aac -b:a 160000');
  });

  it.each([
    ['copies a source of a lower rate', 120_000, true],
    ['copies a source of 5 % above the rate', 168_000, true],
    ['encodes a source above that', 168_001, false],
    ['encodes a source of unknown rate', 0, false],
  ])('%s', (_what, rate, copies) => {
    expect(isCopy(compress(probeOf({ codec_name: 'aac', bit_rate: rate }, { format: 'aac' })))).toBe(copies);
  });

  it('uses the rate of the file when the stream names none', () => {
    expect(isCopy(compress(probeOf({ codec_name: 'aac' }, { format: 'aac', bitRate: 64_000 })))).toBe(true);
  });

  it('never exceeds the rate of a lossy source of another codec', () => {
    expect(text(compress(probeOf({ bit_rate: 96_000 })))).toContain('-b:a 96000');
  });

  it('copies a source of the lowest rate of the encoder when a lower one is requested', () => {
    expect(isCopy(compress(probeOf({ bit_rate: 32_000 }), { format: 'mp3', bitrate_kbps: 16 }))).toBe(true);
  });

  it.each([
    ['warns of the lowest rate', 20_000, 16, '-b:a 32000', ['supports at least 32 kbit/s']],
    ['warns of the highest rate', 400_000, 512, '-b:a 320000', ['supports at most 320 kbit/s']],
    ['does not warn when the rate of the source is used', 96_000, 512, '-b:a 96000', []],
  ])('%s', (_what, rate, kbps, expected, warnings) => {
    const plan = compress(probeOf({ codec_name: 'aac', bit_rate: rate }), { format: 'mp3', bitrate_kbps: kbps });
    expect(text(plan)).toContain(expected);
    expect(plan.warnings).toEqual(warnings.map((warning) => expect.stringContaining(warning)));
  });

  it.each([
    ['pcm_s16le', true],
    ['pcm_mulaw', true],
    ['pcm_s16be', false],
    ['pcm_s8', false],
  ])('copies %s into WAV: %j', (codec, copies) => {
    expect(isCopy(compress(probeOf({ codec_name: codec }), { format: 'wav' }))).toBe(copies);
  });

  it('encodes a copyable stream when its channels change', () => {
    const mono = compress(probeOf({ codec_name: 'aac', bit_rate: 64_000 }, { format: 'aac' }), { channels: 'mono' });
    expect([isCopy(mono), text(mono).includes('-ac 1'), mono.warnings]).toEqual([false, true, []]);
  });

  it('keeps all channels of WAV', () => {
    const plan = compress(probeOf({ codec_name: 'pcm_s24le', channels: 16 }, { format: 'wav' }), { format: 'wav' });
    expect([plan.warnings, plan.outputOptions.includes('-ac')]).toEqual([[], false]);
  });

  it('warns when more than two channels become MP3', () => {
    const plan = compress(probeOf({ codec_name: 'flac', channels: 6 }, { format: 'flac' }), { format: 'mp3' });
    expect(plan.warnings).toEqual([expect.stringContaining('6 channels')]);
  });

  it('computes the times of FLAC from its samples', () => {
    expect(text(compress(probeOf({ codec_name: 'flac' }, { format: 'flac' })))).toMatch(/-af asetpts=N\/SR\/TB$/);
  });

  // Promise, Bad input, case by case: Sample rates
  it('refuses a sample rate that the codec lacks, and a file without audio', () => {
    expect(() => compress(WAV, { format: 'opus', sample_rate_hz: 44_100 })).toThrow(
      expect.objectContaining({ code: 'invalid_options', param: 'audio.sample_rate_hz' }),
    );
    expect(() => compress({ ...WAV, audio: [] })).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });
});

describe('planCompress with the format original', () => {
  it.each([
    ['flac', 'ogg', 'flac'],
    ['flac', 'm4a', 'flac'],
    ['pcm_s16be', 'm4a', 'wav'],
    ['alac', 'm4a', 'alac'],
    ['mp3', 'm4a', 'mp3'],
    ['mp3', 'wav', 'mp3'],
    ['opus', 'm4a', 'opus'],
    ['opus', 'ogg', 'opus'],
    ['aac', 'm4a', 'm4a'],
    ['aac', 'aac', 'aac'],
  ] as const)('keeps %s of %s in %s', (codec, from, to) => {
    const plan = compress(probeOf({ codec_name: codec }, { format: from }), { format: 'original' });
    expect([plan.format, plan.warnings]).toEqual([to, []]);
  });

  it.each([
    ['speex', 'ogg', 'ogg', 'vorbis'],
    ['ac3', 'm4a', 'm4a', 'aac'],
    ['wmav2', 'wma', 'm4a', 'aac'],
    ['wmalossless', 'wma', 'flac', 'flac'],
    ['adpcm_ms', 'wav', 'wav', 'pcm'],
  ] as const)('warns that %s of %s in %s becomes %s', (codec, from, to, encoded) => {
    const plan = compress(probeOf({ codec_name: codec }, { format: from }), { format: 'original' });
    expect(plan.format).toBe(to);
    expect(plan.warnings).toEqual([`The codec ${codec} is not supported as output: ${encoded} was used.`]);
  });
});

describe('planConvert', () => {
  it.each([
    ['mp3', 'mp3', true],
    ['mp3', 'm4a', false],
    ['aac', 'm4a', true],
    ['alac', 'm4a', true],
    ['pcm_s16le', 'wav', false],
    ['vorbis', 'ogg', true],
  ] as const)('of %s to %s copies: %j', (codec, format, copies) => {
    expect(isCopy(planConvert(probeOf({ codec_name: codec }), format))).toBe(copies);
  });

  it.each([
    ['mjpeg', 'm4a', true],
    ['png', 'mp3', true],
    ['bmp', 'mp3', false],
    ['mjpeg', 'opus', false],
  ] as const)('keeps cover art of %s in %s: %j', (codec, format, keeps) => {
    const probe = probeOf({}, { cover: { index: 2, codec_name: codec, width: 9, height: 9 } as MediaStream });
    expect(text(planConvert(probe, format)).includes('-map 0:2')).toBe(keeps);
  });

  it('copies the tags of Ogg from its stream', () => {
    expect(text(planConvert(probeOf({ codec_name: 'vorbis' }, { format: 'ogg' }), 'mp3'))).toContain(
      '-map_metadata 0:s:a:0',
    );
  });
});

describe('a WAV file', () => {
  const FLOATS = probeOf({ codec_name: 'pcm_f64le', channels: 8, sample_rate: 192_000 }, { format: 'wav' });

  it.each([
    ['omits it for a minute', WAV, 'never'],
    ['has it for a day', { ...WAV, ends: new Map([[1, 86_400]]) }, 'auto'],
    ['has it for an unknown duration', { ...WAV, ends: new Map<number, number>() }, 'auto'],
    ['has it for samples of 64 bits in eight channels', { ...FLOATS, ends: new Map([[1, 400]]) }, 'auto'],
  ])('has space for RF64 only where its size may need it: %s', (_what, probe, expected) => {
    expect(text(planStrip(probe))).toContain(`-rf64 ${expected}`);
  });

  it('has space for RF64 where a higher sample rate may need it', () => {
    const probe = { ...WAV, ends: new Map([[1, 7200]]) };
    const plans = ([48_000, 192_000] as const).map((rate) => compress(probe, { format: 'wav', sample_rate_hz: rate }));
    expect(plans.map((plan) => /-rf64 (\w+)/.exec(text(plan))?.[1])).toEqual(['never', 'auto']);
  });

  it('shrinks when its only tag is removed', async () => {
    const args = ['-f', 'lavfi', '-i', 'sine=duration=1', '-metadata', 'artist=Jane Doe'];
    const source = await draw(engineDeps().run, await freshDirectory(), { format: 'wav', args });
    const options = { audio: { format: 'original', strip_metadata: true } } as const;
    const { path } = await runHandler(audioHandler, await workOn({ ...source, operation: 'compress', options }));
    const [before, after] = [await readFile(source.path), await readFile(path)];
    expect([before.includes('Jane'), after.includes('Jane'), after.length < before.length]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe('planStrip', () => {
  it.each([
    ['wma', 'wmav2', 'm4a'],
    ['m4a', 'alac', 'alac'],
    ['m4a', 'aac', 'm4a'],
    ['ogg', 'flac', 'ogg'],
    ['wav', 'pcm_s16le', 'wav'],
  ] as const)('of %s with %s writes %s, copied without tags and chapters', (format, codec, output) => {
    const plan = planStrip(probeOf({ codec_name: codec }, { format }));
    expect([plan.format, isCopy(plan)]).toEqual([output, true]);
    expect(text(plan)).toContain('-map_metadata -1 -map_chapters -1');
  });
});

describe('a plan that copies', () => {
  it('has the same plan with a new encoding, except for stripping', () => {
    const plan = planConvert(probeOf({ codec_name: 'aac' }, { format: 'aac' }), 'm4a');
    expect(plan.encoded).toMatchObject({ format: 'm4a', encoded: null });
    expect(plan.encoded === null ? '' : text(plan.encoded)).toContain('-c:a aac -b:a 256000');
    expect([planStrip(WAV).encoded, compress(WAV).encoded]).toEqual([null, null]);
  });
});

describe('a filter', () => {
  it('is added in front of others, and not to a copy', () => {
    const plan = compress(WAV);
    const [paused, ended] = [withPauses(plan), withSilentEnd(withPauses(plan) ?? plan, 0.1)];
    expect(paused === null ? '' : text(paused)).toMatch(/-af aresample=async=1$/);
    expect(ended === null ? '' : text(ended)).toMatch(/-af apad=whole_dur=0.1,aresample=async=1$/);
    expect(withPauses(planStrip(WAV))).toBeNull();
  });
});
