import { describe, expect, it } from 'vitest';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import type { Probe } from '#worker-image/engine/media/probe.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';
import { planCompress, planConvert, shownSize, videoTrackOf } from '#worker-image/engine/media/video-plan.ts';

function streamOf(over: Partial<MediaStream>): MediaStream {
  return {
    index: 0,
    codec_name: 'h264',
    width: 640,
    height: 480,
    pix_fmt: 'yuv420p',
    tags: {},
    ...over,
  } as MediaStream;
}

function probeOf(video: Partial<MediaStream>, over: Partial<Probe> = {}): Probe {
  return {
    format: 'mkv',
    video: streamOf({
      sample_aspect_ratio: '1:1',
      color_transfer: '',
      color_space: '',
      field_order: 'progressive',
      r_frame_rate: '25/1',
      ...video,
    }),
    audio: [],
    cover: null,
    subtitles: [],
    attachments: [],
    data: 0,
    timecodes: 0,
    covers: 0,
    hasAppleTags: false,
    undecodableAudio: 0,
    moreVideos: 0,
    hdr: null,
    rotation: 0,
    isTransformed: false,
    lastFrameSeconds: 0,
    ends: new Map(),
    trimmed: new Set(),
    ...over,
  } as unknown as Probe;
}

const copies = (probe: Probe, format: 'mp4' | 'mov' | 'webm' | 'mkv'): boolean => planConvert(probe, format).copies;
const text = (probe: Probe, format: 'mp4' | 'mov' | 'webm' | 'mkv'): string =>
  planConvert(probe, format).outputOptions.join(' ');

describe('planConvert', () => {
  it.each([
    ['h264', 'mp4', true],
    ['h264', 'webm', false],
    ['vp9', 'webm', true],
    ['vp8', 'mp4', false],
    ['prores', 'mov', true],
    ['prores', 'mp4', false],
    ['wmv2', 'mkv', false],
  ] as const)('copies %s into %s: %j', (codec, format, expected) => {
    expect(copies(probeOf({ codec_name: codec }), format)).toBe(expected);
  });

  it('encodes a rotated or flipped video where the container stores no display matrix', () => {
    const rotated = probeOf({}, { isTransformed: true });
    expect([copies(rotated, 'mp4'), copies(rotated, 'mkv')]).toEqual([true, false]);
  });

  it('encodes a video whose packets do not say in which order its frames are shown', () => {
    expect(copies(probeOf({}, { format: 'avi', lacksFrameTimes: true }), 'mp4')).toBe(false);
  });

  it.each([
    ['mp4', true],
    ['mov', false],
    ['mkv', false],
  ] as const)('describes the projection of a 360-degree video in %s by an option: %j', (format, isDescribed) => {
    const spherical = probeOf({
      side_data_list: [{ side_data_type: 'Spherical Mapping', rotation: 0, displaymatrix: '' }],
    });
    expect(text(spherical, format).includes('-strict unofficial')).toBe(isDescribed);
    expect(planConvert(spherical, format).warnings).toHaveLength(format === 'mov' ? 1 : 0);
  });

  it("keeps Apple's tags in mp4 and mov", () => {
    expect(text(probeOf({}, { hasAppleTags: true }), 'mp4')).toContain('+faststart+use_metadata_tags');
    expect(text(probeOf({}), 'mov')).not.toContain('use_metadata_tags');
  });

  it('copies Dolby Vision without a base layer with its description, and refuses to encode it', () => {
    const data = { side_data_type: 'DOVI configuration record', rotation: 0, displaymatrix: '', dv_profile: 5 };
    const probe = probeOf({ codec_name: 'hevc', side_data_list: [data] });
    expect([copies(probe, 'mp4'), text(probe, 'mp4')]).toEqual([
      true,
      expect.stringMatching(/-tag:v:0 hvc1 -strict unofficial/),
    ]);
    expect(() => planConvert(probe, 'mov')).toThrow('Dolby Vision of profile 5');
    expect(() => planCompress(probe, resolveOptions(new Map()).video)).toThrow('Dolby Vision of profile 5');
  });

  it('encodes a trimmed video where the container stores no edit list', () => {
    const trimmed = probeOf({}, { trimmed: new Set([0]) });
    expect([copies(trimmed, 'mov'), copies(trimmed, 'mkv')]).toEqual([true, false]);
  });

  it.each([
    ['yuv420p', 'webm', 'libvpx-vp9'],
    ['yuv420p', 'mp4', 'libx264'],
    ['yuv420p10le', 'mp4', 'libx265'],
  ] as const)('encodes %s for %s with %s', (format, container, encoder) => {
    expect(text(probeOf({ codec_name: 'wmv2', pix_fmt: format }), container)).toContain(`-c:v:0 ${encoder}`);
  });

  it('uses H.264 for an image that H.265 does not support, with a warning', () => {
    const plan = planConvert(probeOf({ codec_name: 'wmv2', pix_fmt: 'yuv420p10le', height: 14 }), 'mp4');
    expect(plan.outputOptions.join(' ')).toContain('-c:v:0 libx264');
    expect(plan.warnings).toHaveLength(1);
  });

  it('uses H.264 in a build without HEVC, with a warning', () => {
    const plan = planConvert(probeOf({ codec_name: 'prores', pix_fmt: 'yuv422p10le' }), 'mp4', { withoutHevc: true });
    expect(plan.outputOptions.join(' ')).toContain('-c:v:0 libx264');
    expect(plan.warnings).toEqual(['H.264 was used: this service was built without HEVC, which is H.265.']);
  });

  it('marks HEVC in MP4 as Apple players need it', () => {
    expect(text(probeOf({ codec_name: 'hevc' }), 'mp4')).toContain('-tag:v:0 hvc1');
    expect(text(probeOf({ codec_name: 'hevc' }), 'mkv')).not.toContain('-tag:v:0');
  });

  it('has a plan without extras for a video with subtitles, and none for one without', () => {
    const subtitles = [streamOf({ index: 3, codec_name: 'subrip' })];
    const plan = planConvert(probeOf({}, { subtitles }), 'mp4');
    expect(plan.outputOptions.join(' ')).toContain('-map 0:3 -c:s:0 mov_text');
    expect(plan.bare?.outputOptions.join(' ')).not.toContain('0:3');
    expect(plan.bare?.warnings).toHaveLength(1);
    expect(planConvert(probeOf({}), 'mp4').bare).toBeNull();
  });
});

describe('planCompress', () => {
  const { video } = resolveOptions(new Map());

  it.each([
    [false, 'libx265', 0],
    [true, 'libx264', 1],
  ])('without a requested codec, in a build without HEVC: %j, encodes with %s', (withoutHevc, encoder, warnings) => {
    const plan = planCompress(probeOf({}), video, { withoutHevc });
    expect(plan.outputOptions.join(' ')).toContain(`-c:v:0 ${encoder}`);
    expect(plan.warnings).toHaveLength(warnings);
  });

  it('uses other codecs in a build without HEVC as everywhere', () => {
    const plan = planCompress(probeOf({}), { ...video, format: 'webm', codec: 'vp9' }, { withoutHevc: true });
    expect(plan.outputOptions.join(' ')).toContain('-c:v:0 libvpx-vp9');
    expect(plan.warnings).toEqual([]);
  });
});

describe('shownSize', () => {
  it.each([
    [0, 640, 480],
    [90, 480, 640],
    [180, 640, 480],
    [270, 480, 640],
  ])('after a rotation by %d degrees is %d × %d', (rotation, width, height) => {
    expect(shownSize(probeOf({}, { rotation }))).toEqual({ width, height });
  });
});

describe('videoTrackOf', () => {
  it.each([
    ['no video track', { video: null }],
    ['a track without a size', { video: streamOf({ width: 0 }) }],
  ])('refuses %s', (_what, over) => {
    expect(() => videoTrackOf(probeOf({}, over))).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });
});
