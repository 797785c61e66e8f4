/** What a media file holds, as ffprobe and its packets say. */
import { z } from 'zod';
import { MediaError } from '#crds/media-error.ts';
import type { EngineDeps, Facts, Work } from '#worker-image/engine/handler.ts';
import { readHdrMetadata, type HdrMetadata } from '#worker-image/engine/media/hdr-metadata.ts';
import { makePacketClock, type PacketClock } from '#worker-image/engine/media/packet-clock.ts';
import { runFullFfprobe, type MediaFile } from '#worker-image/tools/ffmpeg.ts';

const number = z.coerce.number().catch(0);
const text = z.string().catch('');

const streamSchema = z.object({
  index: z.int(),
  codec_type: text,
  /** ffmpeg's name, such as h264, hevc, aac. Empty when it knows none. */
  codec_name: text,
  codec_tag_string: text,
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
  format: z
    .object({
      start_time: number.optional().default(0),
      duration: number.optional().default(0),
      bit_rate: number.optional().default(0),
    })
    .default({ start_time: 0, duration: 0, bit_rate: 0 }),
});

const ENTRIES = [
  'stream=index,codec_type,codec_name,codec_tag_string,width,height,pix_fmt,sample_aspect_ratio,color_transfer,color_space,field_order,sample_fmt,sample_rate,channels,bits_per_raw_sample,bit_rate',
  'stream_disposition=attached_pic',
  'stream_side_data=side_data_type,rotation',
  'stream_tags=alpha_mode,ALPHA_MODE',
  'format=start_time,duration,bit_rate',
].join(':');

export type MediaStream = z.infer<typeof streamSchema>;

export interface Probe {
  readonly format: MediaFile['format'];
  /** The first moving picture that has packets; cover art does not count. */
  readonly video: MediaStream | null;
  readonly audio: readonly MediaStream[];
  /** Cover art. */
  readonly cover: MediaStream | null;
  readonly subtitles: readonly MediaStream[];
  /** Files inside of the file, such as fonts of its subtitles. */
  readonly attachments: readonly MediaStream[];
  /** Timecode, sensors and whatever else is neither seen nor heard. */
  readonly data: number;
  /** Moving pictures behind it. */
  readonly moreVideos: number;
  /** Of a PQ picture; null for all others. */
  readonly hdr: HdrMetadata | null;
  /** Of the whole file, in bits per second; 0 when unknown. */
  readonly bitRate: number;
  /** Clockwise, 0, 90, 180 or 270. */
  readonly rotation: number;
  /**
   * What the container claims, in seconds from where the file starts: a clock that begins later, or the priming that
   * players leave out, counts for it too. 0 or less when it claims nothing.
   */
  readonly claimedSeconds: number;
  /** Where the last packet of each stream that has one ends, by the stream's index: in seconds from the file's start. */
  readonly ends: ReadonlyMap<number, number>;
  /** Indices of the streams that begin with packets which the file says not to show. */
  readonly trimmed: ReadonlySet<number>;
}

/**
 * Reads a media file to its end, once: its headers, and the times of its packets.
 * @throws MediaError processing_failed when ffmpeg does not open it.
 */
export async function probe(deps: EngineDeps, work: Pick<Work, 'directory'>, input: MediaFile): Promise<Probe> {
  const { directory } = work;
  const clock = clockOf(input.format);
  const found = await runFullFfprobe(deps, { input, entries: ENTRIES, directory, onPacket: clock.read });
  const printed = probeSchema.safeParse(found);
  if (!printed.success || printed.data.streams.length === 0) {
    throw new MediaError(
      'processing_failed',
      `The ${input.format} file could not be opened: it is damaged or incomplete.`,
    );
  }
  const { streams, format } = printed.data;
  const isCover = (stream: MediaStream): boolean => stream.disposition?.attached_pic === 1;
  const ofType = (type: string): MediaStream[] => streams.filter((stream) => stream.codec_type === type);
  const videos = withPackets(
    ofType('video').filter((stream) => !isCover(stream)),
    clock,
  );
  const video = videos[0] ?? null;
  return {
    format: input.format,
    video,
    audio: withPackets(
      ofType('audio').filter((stream) => stream.channels > 0),
      clock,
    ),
    cover: ofType('video').find(isCover) ?? null,
    subtitles: ofType('subtitle'),
    attachments: ofType('attachment'),
    data: ofType('data').filter((stream) => stream.codec_tag_string !== CHAPTER_NAMES).length,
    moreVideos: Math.max(0, videos.length - 1),
    hdr: isPq(video) ? await readHdrMetadata(deps, { input, directory: work.directory, stream: video.index }) : null,
    bitRate: format.bit_rate,
    rotation: rotationOf(video),
    claimedSeconds: format.duration - Math.max(0, format.start_time),
    ends: endsOf(streams, clock, format.start_time),
    trimmed: trimmedOf(streams, clock),
  };
}

/** QuickTime's track of them; they are chapters of the file as well. */
const CHAPTER_NAMES = 'text';

/** A file of several bit rates lists all of them, and may hold the packets of one. Without any packet: all streams. */
function withPackets(streams: readonly MediaStream[], clock: PacketClock): readonly MediaStream[] {
  const filled = streams.filter(({ index }) => clock.endOf(index) !== null);
  return filled.length > 0 ? filled : streams;
}

/** Formats that are streams: two of them one behind the other are a longer one. */
const JOINABLE: ReadonlySet<MediaFile['format']> = new Set(['mpg', 'ogg', 'opus']);

/** In seconds. */
const LONGEST_PACKETS: Partial<Record<MediaFile['format'], number>> = {
  // RFC 6716. Where another stream begins, ffmpeg takes its headers for packets of a second.
  opus: 0.12,
  // A short Vorbis stream may end before its last packet begins; ffprobe prints the negative time as one of 32 bits,
  // which is above this at each rate up to 384 kHz.
  ogg: 2 ** 31 / 384_000,
};

/** ffmpeg makes the times of FLAC from the numbers of its frames, which early encoders counted otherwise. */
export const GAPLESS: ReadonlySet<MediaFile['format']> = new Set(['flac']);

function clockOf(format: MediaFile['format']): PacketClock {
  return makePacketClock({
    joinsParts: JOINABLE.has(format),
    longest: LONGEST_PACKETS[format] ?? Infinity,
    isGapless: GAPLESS.has(format),
  });
}

/** Frames a second of a picture whose only packet has no duration. */
const STILL_RATE = 25;

/**
 * The playing time of streams in seconds as the packets say, because containers lack it or lie: ADTS is off by a
 * sixth, FLAC and WebM may say nothing, and a forged header is how a long file would be sold as a short one.
 * @throws MediaError processing_failed when the streams hold nothing.
 */
export function playingSeconds({ format, ends }: Probe, streams: readonly (MediaStream | null | undefined)[]): number {
  const found = streams.flatMap((stream) => ends.get(stream?.index ?? -1) ?? []);
  if (found.length === 0)
    throw new MediaError(
      'processing_failed',
      `The ${format} file holds no frame that can be read: it is damaged, or coded in a way that is not handled. Check that it plays elsewhere, and save it in a usual way.`,
    );
  const seconds = Math.max(0, ...found);
  return seconds === 0 ? 1 / STILL_RATE : seconds;
}

/** The probe among the facts of a video or audio file. */
export function mediaOf({ media }: Facts): Probe {
  if (media === null) throw new TypeError('the facts are not those of a video or audio file');
  return media;
}

function endsOf(streams: readonly MediaStream[], clock: PacketClock, start: number): Map<number, number> {
  const ends = streams.map(({ index }) => [index, clock.endOf(index)] as const);
  return new Map(ends.flatMap(([index, end]) => (end === null ? [] : [[index, end - start]])));
}

/** Seconds that an encoder's priming or a frame's reordering may take; what lies before is cut off. */
const PRIMING = 0.15;

function trimmedOf(streams: readonly MediaStream[], clock: PacketClock): Set<number> {
  const indices = streams.map(({ index }) => index);
  return new Set(indices.filter((index) => (clock.startOf(index) ?? 0) < -PRIMING));
}

function isPq(video: MediaStream | null): video is MediaStream {
  return video?.color_transfer === 'smpte2084';
}

function rotationOf(video: MediaStream | null): number {
  const counterClockwise = video?.side_data_list?.find((data) => data.rotation !== 0)?.rotation ?? 0;
  return (((-Math.round(counterClockwise / 90) * 90) % 360) + 360) % 360;
}
