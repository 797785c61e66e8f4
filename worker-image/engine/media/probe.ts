/** Reads the streams of a media file, and their times, with ffprobe. */
import { MediaError } from '#crds/contract/media-error.ts';
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import { readOggStructure, type OggStructure } from '#worker-image/engine/containers/ogg.ts';
import type { EngineDeps, Facts, Work } from '#worker-image/engine/handler.ts';
import { isTransformed, rotationOf } from '#worker-image/engine/media/display-matrix.ts';
import { readHdrMetadata, type HdrMetadata } from '#worker-image/engine/media/hdr-metadata.ts';
import { makePacketClock, type PacketClock } from '#worker-image/engine/media/packet-clock.ts';
import { PROBE_ENTRIES, probeSchema, type MediaStream } from '#worker-image/engine/media/probe-schema.ts';
import { runFullFfprobe, type MediaFile } from '#worker-image/tools/ffmpeg.ts';

export interface Probe {
  readonly format: MediaFile['format'];
  /** The first video stream with packets, other than cover art. */
  readonly video: MediaStream | null;
  /** Number of its packets: at least that of its frames. */
  readonly videoPackets: number;
  /** Its packets have no presentation times, but their order is not that of the frames, as in AVI. */
  readonly lacksFrameTimes: boolean;
  /** Time for which its last frame is shown, in seconds. */
  readonly lastFrameSeconds: number;
  readonly audio: readonly MediaStream[];
  /** Number of audio streams whose codec ffmpeg does not decode, such as the spatial audio of an iPhone. */
  readonly undecodableAudio: number;
  /** There are other audio streams, but none declares its channels, because its first packets do not decode. */
  readonly hasBrokenAudio: boolean;
  /** The first cover image. */
  readonly cover: MediaStream | null;
  /** Number of cover images. */
  readonly covers: number;
  /** The file has Apple's own tags: camera, time with its zone, location. */
  readonly hasAppleTags: boolean;
  readonly subtitles: readonly MediaStream[];
  /** Attached files, such as fonts of the subtitles. */
  readonly attachments: readonly MediaStream[];
  readonly chapters: number;
  /** Number of data streams, such as timecode and sensor data. */
  readonly data: number;
  /** Number of those that are timecodes, which ffmpeg writes again in mov. */
  readonly timecodes: number;
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
  /** Structure of an Ogg file; null for other formats. */
  readonly ogg: OggStructure | null;
}

/** The facts of a video or audio file. */
export interface MediaFacts extends Facts {
  readonly durationSeconds: number;
  readonly probe: Probe;
}

/**
 * Reads a media file to its end, once: its headers, and the times of its packets.
 * @throws MediaError processing_failed when ffmpeg does not open it, and for an Ogg file of parts that differ.
 */
export async function probe(deps: EngineDeps, work: Pick<Work, 'directory'>, input: MediaFile): Promise<Probe> {
  const { directory } = work;
  const clock = clockOf(input.format);
  const found = await runFullFfprobe(deps, { input, entries: PROBE_ENTRIES, directory, onPacket: clock.read });
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
  const data = ofType('data').filter((stream) => stream.codec_tag_string !== CHAPTER_NAMES);
  return {
    format: input.format,
    video,
    ...frameTimesOf(video, clock),
    ...audioOf(ofType('audio'), clock),
    cover: ofType('video').find(isCover) ?? null,
    covers: ofType('video').filter(isCover).length,
    hasAppleTags: Object.keys(format.tags).length > 0,
    subtitles: ofType('subtitle'),
    attachments: ofType('attachment'),
    chapters: chapters.length,
    data: data.length,
    timecodes: data.filter((stream) => stream.codec_tag_string === TIMECODE).length,
    moreVideos: Math.max(0, videos.length - 1),
    hdr: isPq(video) ? await readHdrMetadata(deps, { input, directory: work.directory, stream: video.index }) : null,
    bitRate: format.bit_rate,
    rotation: rotationOf(video),
    isTransformed: isTransformed(video),
    claimedSeconds: format.duration - Math.max(0, format.start_time),
    ends: endsOf(streams, clock, format.start_time),
    trimmed: trimmedOf(streams, clock),
    ogg: input.format === 'ogg' || input.format === 'opus' ? await oggOf(input.path) : null,
  };
}

/**
 * Returns the structure of an Ogg file.
 * @throws MediaError processing_failed when its parts differ: ffmpeg decodes the others without their headers, or computes
 *   their times with the sample rate of the first.
 */
async function oggOf(path: string): Promise<OggStructure> {
  const ogg = await withFileReader(path, readOggStructure);
  if (ogg.isUniform || !ogg.isChained) return ogg;
  throw new MediaError(
    'processing_failed',
    'The Ogg file consists of several recordings, one after the other, that differ in codec, sample rate, channels or output gain. Split it, and send each recording by itself.',
  );
}

function frameTimesOf(
  video: MediaStream | null,
  clock: PacketClock,
): Pick<Probe, 'videoPackets' | 'lacksFrameTimes' | 'lastFrameSeconds'> {
  if (video === null) return { videoPackets: 0, lacksFrameTimes: false, lastFrameSeconds: 0 };
  const { index, has_b_frames: reordered } = video;
  return {
    videoPackets: clock.packetsOf(index),
    lacksFrameTimes: reordered > 0 && clock.lacksShownTimes(index),
    lastFrameSeconds: clock.lastDurationOf(index),
  };
}

function audioOf(
  streams: readonly MediaStream[],
  clock: PacketClock,
): Pick<Probe, 'audio' | 'undecodableAudio' | 'hasBrokenAudio'> {
  const decodable = streams.filter((stream) => !UNDECODABLE_AUDIO.has(stream.codec_name));
  const audible = decodable.filter((stream) => stream.channels > 0);
  return {
    audio: withPackets(audible, clock),
    undecodableAudio: streams.length - decodable.length,
    hasBrokenAudio: audible.length === 0 && decodable.length > 0,
  };
}

/** Tag of QuickTime's track of chapter names, which the file's chapters repeat. */
const CHAPTER_NAMES = 'text';
/** Tag of QuickTime's timecode track. */
const TIMECODE = 'tmcd';
/** Audio codecs that no version of ffmpeg decodes, by its names; one that it does not know has none. */
const UNDECODABLE_AUDIO: ReadonlySet<string> = new Set(['', 'ac4', 'mpegh_3d_audio', 'evrc', 'smv']);

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
