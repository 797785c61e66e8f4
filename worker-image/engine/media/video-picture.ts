/** How the picture of a video is filtered and encoded. Pure, but for the number of processors. */
import { availableParallelism } from 'node:os';
import type { VIDEO_CODECS, VIDEO_TIERS } from '#crds/options/video.ts';
import type { MediaStream, Probe } from '#worker-image/engine/media/probe.ts';

export type VideoCodec = (typeof VIDEO_CODECS)[number];
export type VideoTier = (typeof VIDEO_TIERS)[number];

/** Constant rate factors; the codecs' columns look alike (measured by SSIM within .02). */
const CRF: Readonly<Record<VideoTier, Readonly<Record<VideoCodec, number>>>> = {
  tiny: { h264: 32, h265: 34, vp9: 44 },
  low: { h264: 28, h265: 31, vp9: 38 },
  balanced: { h264: 24, h265: 27, vp9: 33 },
  high: { h264: 21, h265: 24, vp9: 29 },
  maximum: { h264: 18, h265: 20, vp9: 24 },
  web: { h264: 23, h265: 26, vp9: 31 },
};

/** The web tier plays on ordinary lines: at most so many kbit/s. */
const WEB_KBPS: Readonly<Record<VideoCodec, number>> = { h264: 6000, h265: 4000, vp9: 4000 };

/** Long side of the web tier: 1080p. */
const WEB_LONG_SIDE = 1920;

const HDR_TRANSFERS: ReadonlySet<string> = new Set(['smpte2084', 'arib-std-b67']);
const INTERLACED: ReadonlySet<string> = new Set(['tt', 'bb', 'tb', 'bt']);
const WITH_ALPHA = /^(?:yuva|gbrap|rgba|bgra|argb|abgr|ya8|ya16|ayuv)/;

export interface Picture {
  readonly codec: VideoCodec;
  readonly tier: VideoTier;
  /** Pixels that the longer side has at most; null keeps it. */
  readonly longSide: number | null;
  /** The container holds the transparency of this codec. */
  readonly keepsAlpha: boolean;
}

/** ffmpeg's options that filter and encode the picture. */
export function pictureOptions(probe: Probe, video: MediaStream, picture: Picture): string[] {
  const deep = isDeep(video) && picture.tier !== 'web' && picture.codec !== 'h264';
  const alpha = hasAlpha(video) && picture.keepsAlpha;
  const filters = [
    ...wholeFilters(video, alpha),
    ...sizeFilters(probe, video, longSideOf(picture)),
    ...(deep ? [] : toneMap(video)),
    `format=${pixelFormat(deep, alpha)}`,
  ];
  const encoder = codecOptions(picture, deep ? probe.hdr : null);
  // The demuxer's time base keeps the times of a variable frame rate exact.
  const times = ['-fps_mode:v:0', 'vfr', '-enc_time_base:v:0', '-1'];
  return ['-filter:v:0', filters.join(','), ...times, ...encoder, ...(alpha ? ['-auto-alt-ref', '0'] : [])];
}

function wholeFilters(video: MediaStream, keepsAlpha: boolean): string[] {
  return [
    // Only frames that are marked as interlaced; one frame stays one frame.
    ...(INTERLACED.has(video.field_order) ? ['bwdif=mode=send_frame:deint=interlaced'] : []),
    // What is transparent is shown on black, not in the colour that happens to be stored.
    ...(hasAlpha(video) && !keepsAlpha ? ['premultiply=inplace=1'] : []),
  ];
}

function pixelFormat(deep: boolean, alpha: boolean): string {
  if (alpha) return 'yuva420p';
  return deep ? 'yuv420p10le' : 'yuv420p';
}

/** ffmpeg's options for the input: its own decoders of VP8 and VP9 leave the transparency out. */
export function decoderOptions(video: MediaStream): string[] {
  if (!hasAlpha(video) || WITH_ALPHA.test(video.pix_fmt)) return [];
  return [`-c:${video.index}`, video.codec_name === 'vp8' ? 'libvpx' : 'libvpx-vp9'];
}

export function hasAlpha({ pix_fmt: format, codec_name: codec, tags }: MediaStream): boolean {
  const marked = (codec === 'vp8' || codec === 'vp9') && (tags['alpha_mode'] ?? tags['ALPHA_MODE']) === '1';
  return marked || WITH_ALPHA.test(format);
}

/** More than eight bits. */
export function isDeep(video: MediaStream): boolean {
  return /(?:9|10|12|14|16)(?:le|be)$/.test(video.pix_fmt) || video.pix_fmt.startsWith('p010');
}

/** Width and height as shown. */
export function shownSides({ rotation }: Probe, { width, height }: MediaStream): { width: number; height: number } {
  return rotation % 180 === 0 ? { width, height } : { width: height, height: width };
}

function longSideOf({ tier, longSide }: Picture): number | null {
  return tier === 'web' ? Math.min(longSide ?? WEB_LONG_SIDE, WEB_LONG_SIDE) : longSide;
}

/** x265 writes nothing below. */
const H265_SHORTEST_SIDE = 16;

/** The wanted codec, or H.264 for a picture that H.265 cannot hold. */
export function codecFor(probe: Probe, video: MediaStream, picture: Picture): VideoCodec {
  const { width, height } = writtenSides(probe, video, longSideOf(picture));
  return picture.codec === 'h265' && Math.min(width, height) < H265_SHORTEST_SIDE ? 'h264' : picture.codec;
}

/** ffmpeg has turned the picture upright before. */
function sizeFilters(probe: Probe, video: MediaStream, longSide: number | null): string[] {
  const shown = shownSides(probe, video);
  const { width, height } = writtenSides(probe, video, longSide);
  if (width === shown.width && height === shown.height) return [];
  const square = ['', 'N/A', '0:1', '1:1'].includes(video.sample_aspect_ratio);
  return [`scale=${width}:${height}`, ...(square ? ['setsar=1'] : [])];
}

/** Even sides, at most the wanted long one. */
function writtenSides(probe: Probe, video: MediaStream, longSide: number | null): { width: number; height: number } {
  const { width, height } = shownSides(probe, video);
  const factor = longSide === null ? 1 : Math.min(1, longSide / Math.max(width, height));
  const half = factor === 1 ? Math.floor : Math.round;
  const even = (side: number): number => Math.max(2, half((side * factor) / 2) * 2);
  return { width: even(width), height: even(height) };
}

/** From HDR to the colours of ordinary screens; nothing for those. Marks that the file leaves out are those that HDR comes with. */
function toneMap(video: MediaStream): string[] {
  if (!HDR_TRANSFERS.has(video.color_transfer)) return [];
  const named = video.color_space !== '' && video.color_space !== 'unknown';
  const marks = named ? [] : [`setparams=color_primaries=bt2020:color_trc=${video.color_transfer}:colorspace=bt2020nc`];
  return [...marks, TONE_MAP];
}

const TONE_MAP =
  'zscale=t=linear:npl=100,format=gbrpf32le,zscale=p=bt709,tonemap=hable:desat=0,zscale=t=bt709:m=bt709:r=tv';

/** As many as x264 takes by itself on up to 8 processors; each takes memory, and 24 took more for 4K than a job has. */
const H264_THREADS = Math.min(12, Math.ceil(availableParallelism() * 1.5));

/** Presets by measurement: the longest allowed video has to end within 4 hours on 4 cores. */
function codecOptions({ codec, tier }: Picture, hdr: Probe['hdr']): string[] {
  const crf = String(CRF[tier][codec]);
  const capped = tier === 'web' ? WEB_KBPS[codec] : null;
  switch (codec) {
    case 'h264':
      return [
        '-c:v:0',
        'libx264',
        '-preset',
        'veryfast',
        '-threads:v:0',
        String(H264_THREADS),
        '-crf',
        crf,
        ...rateCap(capped),
      ];
    case 'h265':
      return ['-c:v:0', 'libx265', '-preset', 'veryfast', '-crf', crf, ...rateCap(capped), ...x265Options(hdr)];
    case 'vp9':
      return [
        '-c:v:0',
        'libvpx-vp9',
        '-crf',
        crf,
        '-b:v:0',
        capped === null ? '0' : `${capped}k`,
        '-deadline',
        'good',
        '-cpu-used',
        '5',
        '-row-mt',
        '1',
        '-tile-columns',
        '2',
      ];
  }
}

function rateCap(kbps: number | null): string[] {
  return kbps === null ? [] : ['-maxrate', `${kbps}k`, '-bufsize', `${kbps * 2}k`];
}

/** Older ffmpeg does not hand the screen's description on; it goes into every key frame. */
function x265Options(hdr: Probe['hdr']): string[] {
  const described = [
    ...(hdr?.masterDisplay == null ? [] : [`master-display=${hdr.masterDisplay}`]),
    ...(hdr?.maxLight == null ? [] : [`max-cll=${hdr.maxLight}`]),
    ...(hdr === null ? [] : ['hdr10=1', 'repeat-headers=1']),
  ];
  return ['-x265-params', ['log-level=error', ...described].join(':')];
}
