/** Reads the streams of a media file, and their times, with ffprobe. */
import { z } from 'zod';
import { MediaError } from '#crds/contract/media-error.ts';
import type { EngineDeps, Facts, Work } from '#worker-image/engine/handler.ts';
import { isTransformed, rotationOf } from '#worker-image/engine/media/display-matrix.ts';
import { readHdrMetadata, type HdrMetadata } from '#worker-image/engine/media/hdr-metadata.ts';
import { makePacketClock, type PacketClock } from '#worker-image/engine/media/packet-clock.ts';
import { runFullFfprobe, type MediaFile } from '#worker-image/tools/ffmpeg.ts';

const number = z.coerce.number().catch(0);
const text = z.string().catch('');

const streamSchema = z.object({
  index: z.int(),
  codec_type: text,
  /** ffmpeg's name, such as h264, hevc, aac; empty for an unknown codec. */
  codec_name: text,
  codec_tag_string: text,
  width: number.optional().default(0),
  height: number.optional().default(0),
  pix_fmt: text,
  sample_aspect_ratio: text,
  color_transfer: text,
  color_space: text,
  /** `tt`, `bb`, `tb` or `bt` for interlaced video. */
  field_order: text,
  sample_fmt: text,
  sample_rate: number.optional().default(0),
  channels: number.optional().default(0),
  /** ffmpeg's name, such as stereo; empty where the decoder names none. */
  channel_layout: text,
  bits_per_raw_sample: number.optional().default(0),
  /** Bits per second; 0 when unknown. */
  bit_rate: number.optional().default(0),
  disposition: z.object({ attached_pic: number.optional().default(0) }).optional(),
  side_data_list: z
    .array(z.object({ side_data_type: text, rotation: number.optional().default(0), displaymatrix: text }))
    .optional(),
  tags: z.record(z.string(), z.unknown()).optional().default({}),
});

const probeSchema = z.object({
  streams: z.array(streamSchema).default([]),
  chapters: z.array(z.unknown()).default([]),
  format: z
    .object({
      start_time: number.optional().default(0),
      duration: number.optional().default(0),
      bit_rate: number.optional().default(0),
    })
    .default({ start_time: 0, duration: 0, bit_rate: 0 }),
});

const ENTRIES = [
  'stream=index,codec_type,codec_name,codec_tag_string,width,height,pix_fmt,sample_aspect_ratio,color_transfer,color_space,field_order,sample_fmt,sample_rate,channels,channel_layout,bits_per_raw_sample,bit_rate',
  'stream_disposition=attached_pic',
  'stream_side_data=side_data_type,rotation,displaymatrix',
  'stream_tags=alpha_mode,ALPHA_MODE',
  'chapter=id',
  'format=start_time,duration,bit_rate',
].join(':');

export type MediaStream = z.infer<typeof streamSchema>;

export interface Probe {
  readonly format: MediaFile['format'];
  /** The first video stream with packets, other than cover art. */
  readonly video: MediaStream | null;
  /** Number of its packets: at least that of its frames. */
  readonly videoPackets: number;
  /** Time for which its last frame is shown, in seconds. */
  readonly lastFrameSeconds: number;
  readonly audio: readonly MediaStream[];
  /** There are audio streams, but none declares its channels, because its first packets do not decode. */
  readonly hasBrokenAudio: boolean;
  /** Cover art. */
  readonly cover: MediaStream | null;
  readonly subtitles: readonly MediaStream[];
  /** Attached files, such as fonts of the subtitles. */
  readonly attachments: readonly MediaStream[];
  readonly chapters: number;
  /** Number of data streams, such as timecode and sensor data. */
  readonly data: number;
  /** Number of further video streams. */
  readonly moreVideos: number;
  /** HDR metadata of PQ video; null for all other. */
  readonly hdr: HdrMetadata | null;
  /** Bit rate of the whole file, in bits per second; 0 when unknown. */
  readonly bitRate: number;
  /** Clockwise rotation in degrees: 0, 90, 180 or 270. */
  readonly rotation: number;
  /** The display matrix rotates or flips the video. A vertical flip has no rotation. */
  readonly isTransformed: boolean;
  /**
   * Duration that the container declares, in seconds from the start of the file: it includes a late start of the clock,
   * and the encoder priming that players skip. 0 or less when it declares none.
   */
  readonly claimedSeconds: number;
  /** End of the last packet of each stream with packets, by the stream's index, in seconds from the file's start. */
  readonly ends: ReadonlyMap<number, number>;
  /** Indices of the streams whose first packets the file excludes from playback. */
  readonly trimmed: ReadonlySet<number>;
}

/** The facts of a video or audio file. */
export interface MediaFacts extends Facts {
  readonly durationSeconds: number;
  readonly probe: Probe;
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
  const { streams, chapters, format } = printed.data;
  const isCover = (stream: MediaStream): boolean => stream.disposition?.attached_pic === 1;
  const ofType = (type: string): MediaStream[] => streams.filter((stream) => stream.codec_type === type);
  const videos = withPackets(
    ofType('video').filter((stream) => !isCover(stream)),
    clock,
  );
  const video = videos[0] ?? null;
  const audible = ofType('audio').filter((stream) => stream.channels > 0);
  return {
    format: input.format,
    video,
    videoPackets: video === null ? 0 : clock.packetsOf(video.index),
    lastFrameSeconds: video === null ? 0 : clock.lastDurationOf(video.index),
    audio: withPackets(audible, clock),
    hasBrokenAudio: audible.length === 0 && ofType('audio').length > 0,
    cover: ofType('video').find(isCover) ?? null,
    subtitles: ofType('subtitle'),
    attachments: ofType('attachment'),
    chapters: chapters.length,
    data: ofType('data').filter((stream) => stream.codec_tag_string !== CHAPTER_NAMES).length,
    moreVideos: Math.max(0, videos.length - 1),
    hdr: isPq(video) ? await readHdrMetadata(deps, { input, directory: work.directory, stream: video.index }) : null,
    bitRate: format.bit_rate,
    rotation: rotationOf(video),
    isTransformed: isTransformed(video),
    claimedSeconds: format.duration - Math.max(0, format.start_time),
    ends: endsOf(streams, clock, format.start_time),
    trimmed: trimmedOf(streams, clock),
  };
}

/**
 * Returns the first audio stream.
 * @throws MediaError processing_failed when there is none, or none that can be decoded.
 */
export function audioTrackOf({ audio: [track], hasBrokenAudio }: Probe): MediaStream {
  if (track !== undefined && track.sample_rate > 0) return track;
  const isBroken = hasBrokenAudio || track !== undefined;
  throw new MediaError(
    'processing_failed',
    isBroken
      ? 'The audio track is damaged: its first packets do not declare channels and sample rate. Check that the file plays, and send it again.'
      : 'The file has no audio track. Send a file with audio.',
  );
}

/** Tag of QuickTime's track of chapter names, which the file's chapters repeat. */
const CHAPTER_NAMES = 'text';

/**
 * Returns the streams with packets: a file of several bit rates lists a stream for each, and may contain the packets of
 * one. Returns all streams when none has packets.
 */
function withPackets(streams: readonly MediaStream[], clock: PacketClock): readonly MediaStream[] {
  const filled = streams.filter(({ index }) => clock.endOf(index) !== null);
  return filled.length > 0 ? filled : streams;
}

/** Formats whose files can be concatenated to a longer one. */
const JOINABLE: ReadonlySet<MediaFile['format']> = new Set(['mpg', 'ogg', 'opus']);

/** Duration of the longest possible packet, in seconds. */
const LONGEST_PACKETS: Partial<Record<MediaFile['format'], number>> = {
  // RFC 6716. Where another stream begins, ffmpeg returns its headers as packets of one second.
  opus: 0.12,
  // A short Vorbis stream may end before its last packet begins; ffprobe prints the negative time as one of 32 bits,
  // which is above this at each rate up to 384 kHz.
  ogg: 2 ** 31 / 384_000,
};

/** Formats without gaps. ffmpeg derives FLAC's times from frame numbers, which early encoders counted differently. */
export const GAPLESS: ReadonlySet<MediaFile['format']> = new Set(['flac']);

function clockOf(format: MediaFile['format']): PacketClock {
  return makePacketClock({
    joinsParts: JOINABLE.has(format),
    longest: LONGEST_PACKETS[format] ?? Infinity,
    isGapless: GAPLESS.has(format),
  });
}

/** Frame rate assumed for a video whose only packet has no duration, in frames per second. */
const STILL_RATE = 25;

/**
 * Returns the playing time of the streams by their packets, in seconds. Declared durations are missing in FLAC and
 * WebM, wrong by a sixth in ADTS, and a forged one would bill a long file as a short one.
 * @throws MediaError processing_failed when the streams have no packets.
 */
export function playingSeconds({ format, ends }: Probe, streams: readonly (MediaStream | null | undefined)[]): number {
  const found = streams.flatMap((stream) => ends.get(stream?.index ?? -1) ?? []);
  if (found.length === 0)
    throw new MediaError(
      'processing_failed',
      `The ${format} file has no readable frame: it is damaged, or its codec is not supported. Check that it plays elsewhere, and save it with a common codec.`,
    );
  const seconds = Math.max(0, ...found);
  return seconds === 0 ? 1 / STILL_RATE : seconds;
}

function endsOf(streams: readonly MediaStream[], clock: PacketClock, start: number): Map<number, number> {
  const ends = streams.map(({ index }) => [index, clock.endOf(index)] as const);
  return new Map(ends.flatMap(([index, end]) => (end === null ? [] : [[index, end - start]])));
}

/** Maximum time of encoder priming and frame reordering, in seconds; an earlier start means trimmed packets. */
const PRIMING = 0.15;

function trimmedOf(streams: readonly MediaStream[], clock: PacketClock): Set<number> {
  const indices = streams.map(({ index }) => index);
  return new Set(indices.filter((index) => (clock.startOf(index) ?? 0) < -PRIMING));
}

function isPq(video: MediaStream | null): video is MediaStream {
  return video?.color_transfer === 'smpte2084';
}
