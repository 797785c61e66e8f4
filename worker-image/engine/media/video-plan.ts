/** Decides how a video is compressed or converted. Pure: probe and options in, ffmpeg's options out. */
import { MediaError } from '#crds/media-error.ts';
import type { ResolvedOptions } from '#crds/options/options.ts';
import type { VIDEO_CODECS, VIDEO_TIERS } from '#crds/options/video.ts';
import type { MediaStream, Probe } from '#worker-image/engine/media/probe.ts';
import { soundtrackOptions } from '#worker-image/engine/media/video-soundtrack.ts';
import type { MuxableFormat } from '#worker-image/tools/ffmpeg.ts';

export type VideoOutput = Extract<MuxableFormat, 'mp4' | 'mov' | 'webm' | 'mkv'>;
type VideoCodec = (typeof VIDEO_CODECS)[number];
type VideoTier = (typeof VIDEO_TIERS)[number];

/** Constant rate factors; the codecs' columns look alike (measured by SSIM within .02). */
const CRF: Readonly<Record<VideoTier, Readonly<Record<VideoCodec, number>>>> = {
  tiny: { h264: 32, h265: 34, vp9: 44 },
  low: { h264: 28, h265: 31, vp9: 38 },
  balanced: { h264: 24, h265: 27, vp9: 33 },
  high: { h264: 21, h265: 24, vp9: 29 },
  maximum: { h264: 18, h265: 20, vp9: 24 },
  web: { h264: 23, h265: 26, vp9: 31 },
};

/** Long side of the web tier: 1080p. */
const WEB_LONG_SIDE = 1920;

/** Video codecs, by ffmpeg's names, that each container takes as they are and players then show. */
const COPYABLE: Readonly<Record<VideoOutput, ReadonlySet<string>>> = {
  mp4: new Set(['h264', 'hevc', 'av1', 'vp9', 'mpeg4']),
  mov: new Set(['h264', 'hevc', 'mpeg4', 'prores', 'mjpeg', 'dnxhd']),
  webm: new Set(['vp8', 'vp9', 'av1']),
  mkv: new Set([
    'h264',
    'hevc',
    'av1',
    'vp8',
    'vp9',
    'mpeg4',
    'mpeg1video',
    'mpeg2video',
    'mjpeg',
    'theora',
    'prores',
    'dnxhd',
    'ffv1',
  ]),
};

const HDR_TRANSFERS: ReadonlySet<string> = new Set(['smpte2084', 'arib-std-b67']);

export interface VideoPlan {
  readonly format: VideoOutput;
  /** True when the picture is copied and not encoded anew. */
  readonly copies: boolean;
  readonly outputOptions: readonly string[];
  readonly warnings: readonly string[];
}

/** Spec: Capabilities / compress.video. @throws MediaError processing_failed without a video track. */
export function planCompress(
  probe: Probe,
  { format, codec, quality, resolution }: ResolvedOptions['video'],
): VideoPlan {
  const video = videoTrackOf(probe);
  const longSide = quality === 'web' ? Math.min(resolution ?? WEB_LONG_SIDE, WEB_LONG_SIDE) : resolution;
  const picture = { codec, crf: CRF[quality][codec], longSide, deep: quality !== 'web' && codec !== 'h264' };
  return {
    format,
    copies: false,
    outputOptions: [
      ...mapOptions(video),
      ...pictureOptions(probe, video, picture),
      ...soundtrackOptions(probe, format, 'compress'),
      ...containerOptions(format, codec),
    ],
    warnings: warningsOf(probe),
  };
}

/** Copies the picture when the container takes it. Spec: POST /v1/convert, "fixed high-quality settings". */
export function planConvert(probe: Probe, format: VideoOutput): VideoPlan {
  const video = videoTrackOf(probe);
  // ffmpeg writes a rotation into mp4 and mov only.
  const turns = probe.rotation !== 0 && format !== 'mp4' && format !== 'mov';
  if (!COPYABLE[format].has(video.codec_name) || turns) return planReencode(probe, format);
  return {
    format,
    copies: true,
    outputOptions: [
      ...mapOptions(video),
      '-c:v',
      'copy',
      ...soundtrackOptions(probe, format, 'convert'),
      ...containerOptions(format, video.codec_name === 'hevc' ? 'h265' : null),
    ],
    warnings: warningsOf(probe),
  };
}

/** The conversion that works when copying does not. */
export function planReencode(probe: Probe, format: VideoOutput): VideoPlan {
  const video = videoTrackOf(probe);
  const codec: VideoCodec = format === 'webm' ? 'vp9' : isDeep(video) ? 'h265' : 'h264';
  const picture = { codec, crf: CRF.maximum[codec], longSide: null, deep: codec !== 'h264' };
  return {
    format,
    copies: false,
    outputOptions: [
      ...mapOptions(video),
      ...pictureOptions(probe, video, picture),
      ...soundtrackOptions(probe, format, 'convert'),
      ...containerOptions(format, codec),
    ],
    warnings: warningsOf(probe),
  };
}

/** @throws MediaError processing_failed. Spec: Errors, processing_failed. */
export function videoTrackOf(probe: Probe): MediaStream {
  if (probe.video !== null && probe.video.width > 0 && probe.video.height > 0) return probe.video;
  throw new MediaError('processing_failed', 'The file has no video track. Send a file that holds moving pictures.');
}

/** Width and height as shown. */
export function shownSize(probe: Probe): { width: number; height: number } {
  const { width, height } = videoTrackOf(probe);
  return probe.rotation % 180 === 0 ? { width, height } : { width: height, height: width };
}

interface Picture {
  readonly codec: VideoCodec;
  readonly crf: number;
  /** Pixels that the longer side has at most; null keeps it. */
  readonly longSide: number | null;
  /** Ten-bit sources stay ten-bit. */
  readonly deep: boolean;
}

function pictureOptions(probe: Probe, video: MediaStream, picture: Picture): string[] {
  const deep = picture.deep && isDeep(video);
  const filters = [
    ...sizeFilters(probe, video, picture.longSide),
    ...(!deep && HDR_TRANSFERS.has(video.color_transfer) ? [TONE_MAP] : []),
    `format=${deep ? 'yuv420p10le' : 'yuv420p'}`,
  ];
  // The demuxer's time base keeps the times of a variable frame rate exact.
  return ['-vf', filters.join(','), '-fps_mode', 'vfr', '-enc_time_base:v', '-1', ...codecOptions(picture)];
}

/** From HDR to the colours of ordinary screens. */
const TONE_MAP =
  'zscale=t=linear:npl=100,format=gbrpf32le,zscale=p=bt709,tonemap=hable:desat=0,zscale=t=bt709:m=bt709:r=tv';

/** Even sides, at most the wanted long one; ffmpeg has turned the picture upright before. */
function sizeFilters(probe: Probe, video: MediaStream, longSide: number | null): string[] {
  const { width, height } = shownSize(probe);
  const factor = longSide === null ? 1 : Math.min(1, longSide / Math.max(width, height));
  const half = factor === 1 ? Math.floor : Math.round;
  const [w, h] = [width, height].map((side) => Math.max(2, half((side * factor) / 2) * 2));
  if (w === width && h === height) return [];
  const square = ['', 'N/A', '0:1', '1:1'].includes(video.sample_aspect_ratio);
  return [`scale=${w}:${h}`, ...(square ? ['setsar=1'] : [])];
}

/** Presets by measurement: the longest allowed video has to end within 4 hours on 4 cores. */
function codecOptions({ codec, crf }: Picture): string[] {
  switch (codec) {
    case 'h264':
      return ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', String(crf)];
    case 'h265':
      return ['-c:v', 'libx265', '-preset', 'veryfast', '-crf', String(crf), '-x265-params', 'log-level=error'];
    case 'vp9':
      return [
        '-c:v',
        'libvpx-vp9',
        '-crf',
        String(crf),
        '-b:v',
        '0',
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

function mapOptions(video: MediaStream): string[] {
  return ['-map', `0:${video.index}`, '-map_metadata', '0', '-dn', '-sn', '-max_muxing_queue_size', '4096'];
}

function containerOptions(format: VideoOutput, codec: VideoCodec | null): string[] {
  if (format !== 'mp4' && format !== 'mov') return [];
  // Apple's players know HEVC by this tag only.
  return ['-movflags', '+faststart', ...(codec === 'h265' ? ['-tag:v', 'hvc1'] : [])];
}

function isDeep(video: MediaStream): boolean {
  return /(?:9|10|12|14|16)(?:le|be)$/.test(video.pix_fmt) || video.pix_fmt.startsWith('p010');
}

function warningsOf(probe: Probe): string[] {
  return probe.subtitles === 0 ? [] : ['Subtitle tracks were left out.'];
}
