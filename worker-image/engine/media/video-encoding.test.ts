import { describe, expect, it } from 'vitest';
import type { Probe } from '#worker-image/engine/media/probe.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';
import {
  codecFor,
  decoderOptions,
  hasAlpha,
  isDeep,
  videoOptions,
  type VideoEncoding,
} from '#worker-image/engine/media/video-encoding.ts';

function streamOf(over: Partial<MediaStream> = {}): MediaStream {
  const plain = { index: 0, codec_name: 'h264', width: 1921, height: 1080, pix_fmt: 'yuv420p', tags: {} };
  return {
    ...plain,
    sample_aspect_ratio: '1:1',
    color_transfer: '',
    color_space: '',
    field_order: '',
    r_frame_rate: '25/1',
    codec_tag_string: 'avc1',
    ...over,
  } as MediaStream;
}

function text(video: Partial<MediaStream>, encoding: Partial<VideoEncoding> = {}, probe: Partial<Probe> = {}): string {
  const wanted: VideoEncoding = { codec: 'h264', tier: 'balanced', longSide: null, keepsAlpha: false, ...encoding };
  return videoOptions(
    { rotation: 0, hdr: null, videoPackets: 250, lastFrameSeconds: 0.04, ends: new Map([[0, 10]]), ...probe } as Probe,
    streamOf(video),
    wanted,
  ).join(' ');
}

describe('videoOptions', () => {
  it.each<readonly [string, Parameters<typeof text>, string]>([
    ['makes sides even', [{}], 'scale=1920:1080'],
    ['scales the longer side', [{}, { longSide: 640 }], 'scale=640:360'],
    ['scales a rotated video as shown', [{}, { longSide: 640 }, { rotation: 90 }], 'scale=360:640'],
    ['keeps the shape of pixels that are not square', [{ sample_aspect_ratio: '4:3' }], 'scale=1920:1080,format'],
    ['limits the web tier', [{ width: 3840, height: 2160 }, { tier: 'web' }], 'scale=1920:1080'],
    ['limits the bit rate of the web tier', [{}, { tier: 'web' }], '-maxrate 6000k -bufsize 12000k'],
    ['deinterlaces', [{ field_order: 'tt' }], 'bwdif='],
    ['deinterlaces frames that only the decoder of DV marks', [{ codec_name: 'dvvideo' }], 'deint=interlaced'],
    [
      'measures the frame rate of a recording with the clock of its container',
      [{ r_frame_rate: '1000/1' }, { codec: 'h265' }],
      'fps=25000/1000',
    ],
    ['measures it for H.264 too', [{ r_frame_rate: '1000/1' }], '-x264-params fps=25000/1000'],
    ['names the colors of HD video that becomes SD', [{}, { longSide: 640 }], '-colorspace:v:0 bt709'],
    ['removes the description of HDR from SDR', [{ color_transfer: 'smpte2084' }], 'CONTENT_LIGHT_LEVEL'],
    ['names the matrix of RGB', [{ pix_fmt: 'gbrp' }], 'scale=1920:1080:out_color_matrix=bt709:out_range=tv'],
    ['converts RGB of even sides', [{ pix_fmt: 'rgb24', width: 640 }], 'scale=out_color_matrix=bt709:out_range=tv,'],
    ['names the colors that RGB was converted to', [{ pix_fmt: 'bgr0' }], '-colorspace:v:0 bt709'],
    ['maps HDR to SDR for 8 bits', [{ color_transfer: 'smpte2084', pix_fmt: 'yuv420p10le' }], 'tonemap=hable'],
    ['keeps 10 bits with H.265', [{ pix_fmt: 'yuv420p10le' }, { codec: 'h265' }], 'format=yuv420p10le'],
    ['keeps transparency', [{ pix_fmt: 'yuva420p' }, { codec: 'vp9', keepsAlpha: true }], 'format=yuva420p'],
    ['shows transparency on black', [{ pix_fmt: 'yuva420p' }], 'premultiply=inplace=1'],
    [
      'repeats HDR metadata',
      [{ pix_fmt: 'p010le' }, { codec: 'h265' }, { hdr: { masterDisplay: 'G(1,2)', maxLight: '9,8' } }],
      'master-display=G(1,2):max-cll=9,8:hdr10=1',
    ],
    [
      'encodes H.265 without frames out of order in a video of two',
      [{}, { codec: 'h265' }, { videoPackets: 2 }],
      'bframes=0',
    ],
  ])('%s', (_what, args, part) => {
    expect(text(...args)).toContain(part);
  });

  it.each([
    [300, '300'],
    [600, '600'],
    [50, '250'],
    [100_000, '1200'],
  ])(
    'allows ten seconds between key frames, and at least 250 frames: of 10 s with %i frames',
    (videoPackets, frames) => {
      for (const codec of ['h264', 'h265', 'vp9'] as const)
        expect(text({}, { codec }, { videoPackets })).toContain(`-g:v:0 ${frames}`);
      expect(text({}, { tier: 'web' }, { videoPackets })).not.toContain('-g:v:0');
    },
  );

  it('allows 250 frames between key frames where the time of the frames is not known', () => {
    expect(text({}, {}, { ends: new Map() })).toContain('-g:v:0 250');
  });

  it.each([
    ['holds a last frame that is much longer than the others', 2, 250, true],
    ['does not hold that of slides', 2, 5, false],
    ['does not hold a short one', 0.4, 250, false],
  ] as const)('%s', (_what, lastFrameSeconds, videoPackets, holds) => {
    expect(text({}, {}, { lastFrameSeconds, videoPackets }).includes('tpad=')).toBe(holds);
  });

  it('never enlarges', () => {
    expect(text({ width: 320, height: 240 }, { longSide: 640 })).not.toContain('scale=');
  });
});

describe('codecFor', () => {
  it.each([
    ['h265', 16, 'h265'],
    ['h265', 15, 'h264'],
    ['vp9', 2, 'vp9'],
  ] as const)('of %s with a side of %d pixels is %s', (codec, height, expected) => {
    const encoding = { codec, tier: 'high', longSide: null, keepsAlpha: false } as const;
    expect(codecFor({ rotation: 0 } as Probe, streamOf({ height }), encoding)).toBe(expected);
  });
});

describe('hasAlpha', () => {
  it.each<readonly [Partial<MediaStream>, boolean]>([
    [{ pix_fmt: 'yuva444p10le' }, true],
    [{ codec_name: 'vp9', tags: { alpha_mode: '1' } }, true],
    [{ codec_name: 'h264', tags: { alpha_mode: '1' } }, false],
    [{ pix_fmt: 'yuv420p' }, false],
  ])('returns whether %j has transparency: %j', (video, expected) => {
    expect(hasAlpha(streamOf(video))).toBe(expected);
  });
});

describe('isDeep', () => {
  it.each([
    ['yuv420p10le', true],
    ['p010le', true],
    ['gray16be', true],
    ['yuv420p', false],
    ['yuyv422', false],
  ])('of %s is %j', (format, expected) => {
    expect(isDeep(streamOf({ pix_fmt: format }))).toBe(expected);
  });
});

describe('decoderOptions', () => {
  it('selects the decoder that returns the transparency of VP8 and VP9', () => {
    const marked = { tags: { alpha_mode: '1' } };
    expect(decoderOptions(streamOf({ ...marked, codec_name: 'vp8', index: 2 }))).toEqual(['-c:2', 'libvpx']);
    expect(decoderOptions(streamOf({ ...marked, codec_name: 'vp9' }))).toEqual(['-c:0', 'libvpx-vp9']);
    expect(decoderOptions(streamOf({ pix_fmt: 'yuva420p' }))).toEqual([]);
  });
});
