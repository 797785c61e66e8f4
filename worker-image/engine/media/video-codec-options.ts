/** Settings of the video encoders. Pure, apart from the number of processors. */
import { availableParallelism } from 'node:os';
import type { VIDEO_CODECS, VIDEO_TIERS } from '#crds/catalogue/options/video.ts';
import type { Probe } from '#worker-image/engine/media/probe.ts';

export type VideoCodec = (typeof VIDEO_CODECS)[number];
export type VideoTier = (typeof VIDEO_TIERS)[number];

/** Constant rate factors. Those of a row have equal quality (SSIM within 0.02). */
const CRF: Readonly<Record<VideoTier, Readonly<Record<VideoCodec, number>>>> = {
  tiny: { h264: 32, h265: 34, vp9: 44 },
  low: { h264: 28, h265: 31, vp9: 38 },
  balanced: { h264: 24, h265: 27, vp9: 33 },
  high: { h264: 21, h265: 24, vp9: 29 },
  maximum: { h264: 18, h265: 20, vp9: 24 },
  web: { h264: 23, h265: 26, vp9: 31 },
};

/** Maximum bit rate of the web tier, in kbit/s. */
const WEB_KBPS: Readonly<Record<VideoCodec, number>> = { h264: 6000, h265: 4000, vp9: 4000 };

/** Threads of x264: its default on up to 8 processors. Each needs memory, and 24 exceeded a job's limit with 4K. */
const H264_THREADS = Math.min(12, Math.ceil(availableParallelism() * 1.5));

export interface EncodedSource {
  /** HDR metadata that the output keeps; null: none. */
  readonly hdr: Probe['hdr'];
  /** Number of packets of the video. */
  readonly packets: number;
  /** Frames per second, as a fraction, where the container's rate is not that of the frames; null: it is. */
  readonly rate: string | null;
}

/** Returns the encoder's options. With these presets the longest allowed video takes at most 4 hours on 4 cores. */
export function codecOptions(
  { codec, tier }: { readonly codec: VideoCodec; readonly tier: VideoTier },
  source: EncodedSource,
): string[] {
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
        ...(source.rate === null ? [] : ['-x264-params', `fps=${source.rate}`]),
        '-crf',
        crf,
        ...rateCap(capped),
      ];
    case 'h265':
      return ['-c:v:0', 'libx265', '-preset', 'veryfast', '-crf', crf, ...rateCap(capped), ...x265Options(source)];
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

/**
 * Number of packets up to which x265 gets no bidirectional frames. With them it takes decoding times from memory that it
 * has not written when a video has at most two frames, which may be four fields.
 */
const PACKETS_WITHOUT_B_FRAMES = 4;

/** Returns x265's options. Older ffmpeg does not pass the HDR metadata on, so they repeat it in every key frame. */
function x265Options({ hdr, packets, rate }: EncodedSource): string[] {
  const described = [
    ...(rate === null ? [] : [`fps=${rate}`]),
    ...(packets <= PACKETS_WITHOUT_B_FRAMES ? ['bframes=0'] : []),
    ...(hdr?.masterDisplay == null ? [] : [`master-display=${hdr.masterDisplay}`]),
    ...(hdr?.maxLight == null ? [] : [`max-cll=${hdr.maxLight}`]),
    ...(hdr === null ? [] : ['hdr10=1', 'repeat-headers=1']),
  ];
  return ['-x265-params', ['log-level=error', ...described].join(':')];
}
