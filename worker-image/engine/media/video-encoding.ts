/** Filters of video, and what its encoders depend on. Pure. */
import type { Probe } from '#worker-image/engine/media/probe.ts';
import { codecOptions, type VideoCodec, type VideoTier } from '#worker-image/engine/media/video-codec-options.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';

/** Maximum long side of the web tier, in pixels. */
const WEB_LONG_SIDE = 1920;

const HDR_TRANSFERS: ReadonlySet<string> = new Set(['smpte2084', 'arib-std-b67']);
const INTERLACED: ReadonlySet<string> = new Set(['tt', 'bb', 'tb', 'bt']);
/** Codecs whose containers often do not declare that their video is interlaced. The decoder marks the frames. */
const MAYBE_INTERLACED: ReadonlySet<string> = new Set(['dvvideo', 'mjpeg', 'mpeg2video', 'vc1', 'wmv3']);
const RGB = /^(?:0?rgb|0?bgr|gbr|argb|abgr|pal8|x2rgb|x2bgr)/;
const WITH_ALPHA = /^(?:yuva|gbrap|rgba|bgra|argb|abgr|ya8|ya16|ayuv)/;

export interface VideoEncoding {
  readonly codec: VideoCodec;
  readonly tier: VideoTier;
  /** Maximum length of the longer side in pixels; null keeps it. */
  readonly longSide: number | null;
  /** The container supports transparency with this codec. */
  readonly keepsAlpha: boolean;
}

/** Returns ffmpeg's options that filter and encode the video. */
export function videoOptions(probe: Probe, video: MediaStream, encoding: VideoEncoding): string[] {
  const deep = keepsDepth(video, encoding);
  const alpha = hasAlpha(video) && encoding.keepsAlpha;
  const filters = [
    ...sourceFilters(video, alpha),
    ...sizeFilters(probe, video, longSideOf(encoding)),
    ...(deep ? [] : toneMap(video)),
    `format=${pixelFormat(deep, alpha)}`,
    ...(holdsLastFrame(probe, video) ? ['tpad=stop=1:stop_mode=clone'] : []),
  ];
  const source = { hdr: deep ? probe.hdr : null, packets: probe.videoPackets, rate: measuredRate(probe, video) };
  const encoder = codecOptions(encoding, source);
  const keyFrames = encoding.tier === 'web' ? [] : ['-g:v:0', String(keyFrameDistance(probe, video))];
  // The demuxer's time base keeps the times of a variable frame rate exact.
  const times = ['-fps_mode:v:0', 'vfr', '-enc_time_base:v:0', '-1'];
  return [
    '-filter:v:0',
    filters.join(','),
    ...times,
    ...encoder,
    ...keyFrames,
    ...colorOptions(probe, video, encoding),
    ...(alpha ? ['-auto-alt-ref', '0'] : []),
  ];
}

function keepsDepth(video: MediaStream, { tier, codec }: Pick<VideoEncoding, 'tier' | 'codec'>): boolean {
  return isDeep(video) && tier !== 'web' && codec !== 'h264';
}

/** Returns whether HDR becomes SDR. */
export function isToneMapped(video: MediaStream, encoding: Pick<VideoEncoding, 'tier' | 'codec'>): boolean {
  return !keepsDepth(video, encoding) && HDR_TRANSFERS.has(video.color_transfer);
}

/** Maximum time between key frames, in seconds. At most this much is decoded to reach a position. */
const KEY_FRAME_SECONDS = 10;
/** Maximum distances of key frames: the default of x264 and x265, for low frame rates too, and that of 120 frames a second. */
const KEY_FRAME_DISTANCES = { least: 250, most: 1200 } as const;

/** Returns the maximum distance of key frames, in frames: each is as large as seconds of other frames. */
function keyFrameDistance({ videoPackets, ends }: Probe, { index }: MediaStream): number {
  const seconds = ends.get(index) ?? 0;
  const frames = seconds > 0 ? Math.round((videoPackets / seconds) * KEY_FRAME_SECONDS) : 0;
  return Math.min(KEY_FRAME_DISTANCES.most, Math.max(KEY_FRAME_DISTANCES.least, frames));
}

/** Minimum time for which a last frame is held, in seconds. */
const HELD_SECONDS = 0.5;

/**
 * Returns whether the last frame is shown for much longer than the others, as in recordings of a screen. Encoders drop its
 * duration, so a copy of the frame marks its end.
 */
function holdsLastFrame({ lastFrameSeconds, videoPackets, ends }: Probe, video: MediaStream): boolean {
  const others = ((ends.get(video.index) ?? 0) - lastFrameSeconds) / Math.max(1, videoPackets - 1);
  return lastFrameSeconds > Math.max(HELD_SECONDS, others * 2);
}

function sourceFilters(video: MediaStream, keepsAlpha: boolean): string[] {
  return [
    // Deinterlaces only frames that are marked as interlaced, without changing their number.
    ...(INTERLACED.has(video.field_order) || MAYBE_INTERLACED.has(video.codec_name)
      ? ['bwdif=mode=send_frame:deint=interlaced']
      : []),
    // Shows transparent pixels on black, not in the color that is stored for them.
    ...(hasAlpha(video) && !keepsAlpha ? ['premultiply=inplace=1'] : []),
  ];
}

function pixelFormat(deep: boolean, alpha: boolean): string {
  if (alpha) return 'yuva420p';
  return deep ? 'yuv420p10le' : 'yuv420p';
}

/** Returns ffmpeg's input options: its own decoders of VP8 and VP9 drop transparency. */
export function decoderOptions(video: MediaStream): string[] {
  if (!hasAlpha(video) || WITH_ALPHA.test(video.pix_fmt)) return [];
  return [`-c:${video.index}`, video.codec_name === 'vp8' ? 'libvpx' : 'libvpx-vp9'];
}

/** Tag of uncompressed video in AVI, as ffprobe prints it. */
const NO_TAG = '[0][0][0][0]';

/** Returns whether a video has transparency. */
export function hasAlpha({ pix_fmt: format, codec_name: codec, codec_tag_string: tag, tags }: MediaStream): boolean {
  // AVI has no transparency: the fourth byte of its pixels is unused.
  if (codec === 'rawvideo' && tag === NO_TAG) return false;
  const marked = (codec === 'vp8' || codec === 'vp9') && (tags['alpha_mode'] ?? tags['ALPHA_MODE']) === '1';
  return marked || WITH_ALPHA.test(format);
}

/** Returns whether a video has more than eight bits per sample. */
export function isDeep(video: MediaStream): boolean {
  return /(?:9|10|12|14|16)(?:le|be)$/.test(video.pix_fmt) || video.pix_fmt.startsWith('p010');
}

/** Returns width and height as shown, in pixels. */
export function shownSides({ rotation }: Probe, { width, height }: MediaStream): { width: number; height: number } {
  return rotation % 180 === 0 ? { width, height } : { width: height, height: width };
}

function longSideOf({ tier, longSide }: VideoEncoding): number | null {
  return tier === 'web' ? Math.min(longSide ?? WEB_LONG_SIDE, WEB_LONG_SIDE) : longSide;
}

/** Minimum side of x265, in pixels. */
const H265_SHORTEST_SIDE = 16;

/** Returns the requested codec, or H.264 for dimensions that H.265 does not support. */
export function codecFor(probe: Probe, video: MediaStream, encoding: VideoEncoding): VideoCodec {
  const { width, height } = writtenSides(probe, video, longSideOf(encoding));
  return encoding.codec === 'h265' && Math.min(width, height) < H265_SHORTEST_SIDE ? 'h264' : encoding.codec;
}

/** Returns the filters that scale the frames, which ffmpeg has rotated before. */
function sizeFilters(probe: Probe, video: MediaStream, longSide: number | null): string[] {
  const shown = shownSides(probe, video);
  const { width, height } = writtenSides(probe, video, longSide);
  const matrix = isRgb(video) ? [RGB_TO_YUV] : [];
  if (width === shown.width && height === shown.height) return matrix.map((options) => `scale=${options}`);
  const square = ['', 'N/A', '0:1', '1:1'].includes(video.sample_aspect_ratio);
  return [`scale=${[`${width}:${height}`, ...matrix].join(':')}`, ...(square ? ['setsar=1'] : [])];
}

/** Options of the scale filter for the conversion of RGB. Its default is the matrix of SD video, without naming it. */
const RGB_TO_YUV = 'out_color_matrix=bt709:out_range=tv';
/** Encoder options that name the colors of HD video. */
const HD_COLORS = ['colorspace', 'color_primaries', 'color_trc'].flatMap((name) => [`-${name}:v:0`, 'bt709']);
/** Minimum height and width of what players take for HD video, in pixels. */
const HD = { width: 1280, height: 720 } as const;

/** Returns the options that name the colors of RGB, and of HD video that becomes smaller: players would guess those of SD. */
function colorOptions(probe: Probe, video: MediaStream, encoding: VideoEncoding): string[] {
  if (isRgb(video)) return [...HD_COLORS, '-color_range:v:0', 'tv'];
  const isHd = ({ width, height }: { width: number; height: number }): boolean =>
    width >= HD.width || height >= HD.height;
  const isNamed = video.color_space !== '' && video.color_space !== 'unknown';
  const shrinksToSd = isHd(shownSides(probe, video)) && !isHd(writtenSides(probe, video, longSideOf(encoding)));
  return !isNamed && shrinksToSd && !HDR_TRANSFERS.has(video.color_transfer) ? HD_COLORS : [];
}

function isRgb({ pix_fmt: format }: MediaStream): boolean {
  return RGB.test(format);
}

/** Returns even width and height, within the maximum long side. */
function writtenSides(probe: Probe, video: MediaStream, longSide: number | null): { width: number; height: number } {
  const { width, height } = shownSides(probe, video);
  const factor = longSide === null ? 1 : Math.min(1, longSide / Math.max(width, height));
  const half = factor === 1 ? Math.floor : Math.round;
  const even = (side: number): number => Math.max(2, half((side * factor) / 2) * 2);
  return { width: even(width), height: even(height) };
}

/** Returns the filters from HDR to SDR; none for SDR. Missing color properties are assumed to be those of HDR. */
function toneMap(video: MediaStream): string[] {
  if (!HDR_TRANSFERS.has(video.color_transfer)) return [];
  const named = video.color_space !== '' && video.color_space !== 'unknown';
  const marks = named ? [] : [`setparams=color_primaries=bt2020:color_trc=${video.color_transfer}:colorspace=bt2020nc`];
  return [...marks, TONE_MAP];
}

const TONE_MAP =
  'zscale=t=linear:npl=100,format=gbrpf32le,zscale=p=bt709,tonemap=hable:desat=0,zscale=t=bt709:m=bt709:r=tv,' +
  ['MASTERING_DISPLAY_METADATA', 'CONTENT_LIGHT_LEVEL'].map((type) => `sidedata=mode=delete:type=${type}`).join(',');

/** Ratio of the container's frame rate to the measured one above which it is only the resolution of its clock. */
const MAX_RATE_RATIO = 2;

/**
 * Returns the measured frame rate of a video whose container declares a far higher one, such as the 1000 of browsers'
 * recordings: encoders would choose their level, and x265 its quality, by it.
 */
function measuredRate({ videoPackets, ends }: Probe, { index, r_frame_rate: declared }: MediaStream): string | null {
  const [frames = 0, seconds = 1] = declared.split('/').map(Number);
  const measured = videoPackets / (ends.get(index) ?? Infinity);
  if (!(measured > 0) || frames / seconds <= measured * MAX_RATE_RATIO) return null;
  return `${Math.max(1, Math.round(measured * 1000))}/1000`;
}
