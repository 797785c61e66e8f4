/** Plans how a video is compressed or converted, as ffmpeg's options. Pure. */
import { MediaError } from '#crds/contract/media-error.ts';
import type { ResolvedOptions } from '#crds/catalogue/options/options.ts';
import type { EngineDeps } from '#worker-image/engine/handler.ts';
import type { Probe } from '#worker-image/engine/media/probe.ts';
import type { MediaStream } from '#worker-image/engine/media/probe-schema.ts';
import { extrasOf, isSpherical, withoutExtras } from '#worker-image/engine/media/video-extras.ts';
import { isQuickTime, type VideoOutput } from '#worker-image/engine/media/video-output.ts';
import type { VideoCodec } from '#worker-image/engine/media/video-codec-options.ts';
import {
  codecFor,
  decoderOptions,
  hasAlpha,
  isDeep,
  isToneMapped,
  videoOptions,
  shownSides,
  type VideoEncoding,
} from '#worker-image/engine/media/video-encoding.ts';
import { restoresTrimmed, audioTrackOptions, audioTrackWarnings } from '#worker-image/engine/media/video-audio.ts';

/** Video codecs, by ffmpeg's names, that are copied into each container because players support them there. */
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

export interface VideoPlan {
  readonly format: VideoOutput;
  /** The video stream is copied. */
  readonly copies: boolean;
  readonly inputOptions: readonly string[];
  readonly outputOptions: readonly string[];
  readonly warnings: readonly string[];
  /** The same plan without subtitles, attached files and cover art, used when they fail; null when there are none. */
  readonly bare: VideoPlan | null;
}

/** What the image was built with. */
type BuiltWith = Pick<EngineDeps, 'withoutHevc'>;

/** Returns the plan for compressing. @throws MediaError processing_failed without a video track. */
export function planCompress(
  probe: Probe,
  { format, codec, quality, resolution }: ResolvedOptions['video'],
  builtWith: BuiltWith = {},
): VideoPlan {
  return planEncode(
    probe,
    { format, operation: 'compress', ...builtWith },
    { codec, tier: quality, longSide: resolution },
  );
}

/** Returns the plan for converting, in fixed high quality. Copies the video stream when the container supports it. */
export function planConvert(probe: Probe, format: VideoOutput, builtWith: BuiltWith = {}): VideoPlan {
  const video = videoTrackOf(probe);
  if (!COPYABLE[format].has(video.codec_name) || isChangedByCopying(probe, video, format))
    return planReencode(probe, format, builtWith);
  const copied = ['-c:v:0', 'copy'];
  return assemble(probe, { format, operation: 'convert', copies: true }, copied, {
    codec: video.codec_name === 'hevc' ? 'h265' : null,
    warnings: hasAlpha(video) && format === 'mp4' ? [ALPHA_WARNING] : [],
  });
}

/** Returns whether the container would show a copy of the stream otherwise than the input's. */
function isChangedByCopying(probe: Probe, video: MediaStream, format: VideoOutput): boolean {
  const losesMatrix = probe.isTransformed && !isQuickTime(format);
  const losesColors = isDolbyVisionOnly(video) && format === 'mov';
  return losesMatrix || losesColors || probe.lacksFrameTimes || restoresTrimmed(probe, video, format);
}

/** Returns the plan for converting with a new encoding, for streams that cannot be copied. */
export function planReencode(probe: Probe, format: VideoOutput, builtWith: BuiltWith): VideoPlan {
  const codec: VideoCodec = format === 'webm' ? 'vp9' : isDeep(videoTrackOf(probe)) ? 'h265' : 'h264';
  return planEncode(probe, { format, operation: 'convert', ...builtWith }, { codec, tier: 'maximum', longSide: null });
}

/** Returns the video track. @throws MediaError processing_failed without one. */
export function videoTrackOf(probe: Probe): MediaStream {
  if (probe.video !== null && probe.video.width > 0 && probe.video.height > 0) return probe.video;
  throw new MediaError('processing_failed', 'The file has no video track. Send a file with video.');
}

/** Returns width and height as shown, in pixels. */
export function shownSize(probe: Probe): { width: number; height: number } {
  return shownSides(probe, videoTrackOf(probe));
}

interface Target extends BuiltWith {
  readonly format: VideoOutput;
  readonly operation: 'compress' | 'convert';
}

function planEncode(probe: Probe, target: Target, wanted: Omit<VideoEncoding, 'keepsAlpha'>): VideoPlan {
  const video = videoTrackOf(probe);
  if (isDolbyVisionOnly(video)) throw dolbyVisionOnly();
  const keepsAlpha = wanted.codec === 'vp9' && (target.format === 'webm' || target.format === 'mkv');
  const encoding = { ...wanted, keepsAlpha };
  const lacksCodec = target.withoutHevc === true && wanted.codec === 'h265';
  const codec = lacksCodec ? 'h264' : codecFor(probe, video, encoding);
  const encoded = videoOptions(probe, video, { ...encoding, codec });
  const warnings = [
    ...(codec === wanted.codec ? [] : [lacksCodec ? HEVC_WARNING : SMALL_WARNING]),
    ...lossWarnings(video, { ...encoding, codec }),
  ];
  return assemble(probe, { ...target, copies: false }, encoded, { codec, warnings });
}

/** Returns warnings for transparency and high dynamic range that the result does not have. */
function lossWarnings(video: MediaStream, encoding: VideoEncoding): string[] {
  return [
    ...(hasAlpha(video) && !encoding.keepsAlpha ? [ALPHA_WARNING] : []),
    ...(isToneMapped(video, encoding) ? [HDR_WARNING] : []),
  ];
}

/** Profile of Dolby Vision whose colors only its own decoders reconstruct: it has no layer that others show. */
const DOLBY_VISION_ONLY = 5;

function isDolbyVisionOnly({ side_data_list: data = [] }: MediaStream): boolean {
  return data.some(({ dv_profile: profile }) => profile === DOLBY_VISION_ONLY);
}

function dolbyVisionOnly(): MediaError {
  const message =
    'The video is Dolby Vision of profile 5, whose colors only decoders of Dolby Vision show. Export it as HDR10 or SDR and send that.';
  return new MediaError('processing_failed', message);
}

const SMALL_WARNING = 'A side of the video is shorter than 16 pixels, which H.265 does not support: H.264 was used.';
const HEVC_WARNING = 'H.264 was used: this service was built without HEVC, which is H.265.';
const HDR_WARNING =
  'The video has high dynamic range, and the result shows standard dynamic range: h265 and vp9 keep it, except with `web`.';
const ALPHA_WARNING = 'Transparency was dropped: the video is shown on black. webm with vp9 keeps it.';

function assemble(
  probe: Probe,
  { format, operation, copies }: Target & { readonly copies: boolean },
  videoCoding: readonly string[],
  { codec, warnings }: { codec: VideoCodec | null; warnings: readonly string[] },
): VideoPlan {
  const video = videoTrackOf(probe);
  const extras = extrasOf(probe, format);
  const base = { format, copies, inputOptions: copies ? [] : decoderOptions(video) };
  const options = [
    '-map',
    `0:${video.index}`,
    '-map_metadata',
    '0',
    '-max_muxing_queue_size',
    '4096',
    ...videoCoding,
    ...audioTrackOptions(probe, format, operation),
    ...containerOptions(probe, format, codec),
  ];
  const common = [...warnings, ...audioTrackWarnings(probe)];
  const bare: VideoPlan = {
    ...base,
    outputOptions: options,
    warnings: [...common, ...withoutExtras(probe).warnings, EXTRAS_WARNING],
    bare: null,
  };
  return {
    ...base,
    outputOptions: [...options, ...extras.options],
    warnings: [...common, ...extras.warnings],
    bare: extras.options.length === 0 ? null : bare,
  };
}

const EXTRAS_WARNING = 'Subtitles, attached files and the cover image were dropped: they could not be read.';

function containerOptions(probe: Probe, format: VideoOutput, codec: VideoCodec | null): string[] {
  if (!isQuickTime(format)) return [];
  // ffmpeg writes these descriptions in mp4, by this option only.
  const isDescribed = format === 'mp4' && (isSpherical(probe) || isDolbyVisionOnly(videoTrackOf(probe)));
  // Apple's players recognize HEVC by this tag only.
  return [
    '-movflags',
    // Apple's tags replace those of iTunes.
    `+faststart${probe.hasAppleTags ? '+use_metadata_tags' : ''}`,
    ...(codec === 'h265' ? ['-tag:v:0', 'hvc1'] : []),
    ...(isDescribed ? ['-strict', 'unofficial'] : []),
  ];
}
