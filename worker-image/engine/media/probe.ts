/** What a media file holds, as ffprobe and its packets say. */
import { z } from 'zod';
import { MediaError } from '#crds/media-error.ts';
import type { EngineDeps, Work } from '#worker-image/engine/handler.ts';
import { readHdrMetadata, type HdrMetadata } from '#worker-image/engine/media/hdr-metadata.ts';
import { makePacketClock } from '#worker-image/engine/media/packet-clock.ts';
import { packetListArguments, runFfmpeg, runFfprobe, type MediaFile } from '#worker-image/tools/ffmpeg.ts';

const number = z.coerce.number().catch(0);
const text = z.string().catch('');

const streamSchema = z.object({
  index: z.int(),
  codec_type: text,
  /** ffmpeg's name, such as h264, hevc, aac. Empty when it knows none. */
  codec_name: text,
  width: number.optional().default(0),
  height: number.optional().default(0),
  pix_fmt: text,
  sample_aspect_ratio: text,
  color_transfer: text,
  color_space: text,
  /** `tt`, `bb`, `tb` or `bt` for interlaced pictures. */
  field_order: text,
  sample_fmt: text,
  sample_rate: number.optional().default(0),
  channels: number.optional().default(0),
  bits_per_raw_sample: number.optional().default(0),
  /** Bits per second; 0 when the container does not say. */
  bit_rate: number.optional().default(0),
  disposition: z.object({ attached_pic: number.optional().default(0) }).optional(),
  side_data_list: z.array(z.object({ side_data_type: text, rotation: number.optional().default(0) })).optional(),
  tags: z.record(z.string(), z.unknown()).optional().default({}),
});

const probeSchema = z.object({
  streams: z.array(streamSchema).default([]),
  format: z.object({ duration: number.optional().default(0), bit_rate: number.optional().default(0) }).optional(),
});

const ENTRIES = [
  'stream=index,codec_type,codec_name,width,height,pix_fmt,sample_aspect_ratio,color_transfer,color_space,field_order,sample_fmt,sample_rate,channels,bits_per_raw_sample,bit_rate',
  'stream_disposition=attached_pic',
  'stream_side_data=side_data_type,rotation',
  'stream_tags=alpha_mode,ALPHA_MODE',
  'format=duration,bit_rate',
].join(':');

export type MediaStream = z.infer<typeof streamSchema>;

export interface Probe {
  readonly format: MediaFile['format'];
  /** The first moving picture; cover art does not count. */
  readonly video: MediaStream | null;
  readonly audio: readonly MediaStream[];
  /** Cover art. */
  readonly cover: MediaStream | null;
  readonly subtitles: readonly MediaStream[];
  /** Files inside of the file, such as fonts of its subtitles. */
  readonly attachments: readonly MediaStream[];
  /** Timecode, sensors and whatever else is neither seen nor heard. */
  readonly data: number;
  /** Moving pictures behind the first. */
  readonly moreVideos: number;
  /** Of a PQ picture; null for all others. */
  readonly hdr: HdrMetadata | null;
  /** Of the whole file, in bits per second; 0 when unknown. */
  readonly bitRate: number;
  /** Clockwise, 0, 90, 180 or 270. */
  readonly rotation: number;
  /** What the container claims, in seconds; 0 when it claims nothing. */
  readonly claimedSeconds: number;
}

/**
 * Reads the headers of a media file.
 * @throws MediaError processing_failed when ffmpeg does not open it.
 */
export async function probe(deps: EngineDeps, work: Pick<Work, 'directory'>, input: MediaFile): Promise<Probe> {
  const printed = probeSchema.safeParse(await runFfprobe(deps, { input, entries: ENTRIES, directory: work.directory }));
  if (!printed.success || printed.data.streams.length === 0) {
    throw new MediaError(
      'processing_failed',
      `The ${input.format} file could not be opened: it is damaged or incomplete.`,
    );
  }
  const { streams, format } = printed.data;
  const isCover = (stream: MediaStream): boolean => stream.disposition?.attached_pic === 1;
  const ofType = (type: string): MediaStream[] => streams.filter((stream) => stream.codec_type === type);
  const videos = ofType('video').filter((stream) => !isCover(stream));
  const video = videos[0] ?? null;
  return {
    format: input.format,
    video,
    audio: ofType('audio').filter((stream) => stream.channels > 0),
    cover: ofType('video').find(isCover) ?? null,
    subtitles: ofType('subtitle'),
    attachments: ofType('attachment'),
    data: ofType('data').length,
    moreVideos: Math.max(0, videos.length - 1),
    hdr: isPq(video) ? await readHdrMetadata(deps, { input, directory: work.directory, stream: video.index }) : null,
    bitRate: format?.bit_rate ?? 0,
    rotation: rotationOf(video),
    claimedSeconds: format?.duration ?? 0,
  };
}

/**
 * The playing time in seconds as the packets say, because containers lack it or lie: ADTS is off by a sixth,
 * FLAC and WebM may say nothing, and a forged header is how a long file would be sold as a short one.
 */
export async function countSeconds(deps: EngineDeps, work: Work, { video, audio }: Probe): Promise<number> {
  const streams = [video, audio[0]].flatMap((stream) =>
    stream === null || stream === undefined ? [] : [stream.index],
  );
  const clock = makePacketClock();
  const args = packetListArguments(work.input, streams);
  const result = await runFfmpeg(deps, { args, directory: work.directory, onLine: clock.read });
  const seconds = clock.seconds();
  if (seconds !== null) return seconds;
  throw new MediaError('processing_failed', `The ${work.input.format} file holds no frame that can be read.`, {
    cause: result.stderr,
  });
}

function isPq(video: MediaStream | null): video is MediaStream {
  return video?.color_transfer === 'smpte2084';
}

function rotationOf(video: MediaStream | null): number {
  const counterClockwise = video?.side_data_list?.find((data) => data.rotation !== 0)?.rotation ?? 0;
  return (((-Math.round(counterClockwise / 90) * 90) % 360) + 360) % 360;
}
