/** Computes where each stream of a file starts and ends, from the packet times that ffprobe prints. */

export interface PacketClock {
  /** Processes one line of the list. */
  readonly read: (line: string) => void;
  /** Returns the end of the stream's last packet, in seconds on the file's clock; null without packets. */
  readonly endOf: (stream: number) => number | null;
  /** Returns the presentation time of its first packet, likewise; null also when the packet has none. */
  readonly startOf: (stream: number) => number | null;
  /** Returns how long the packet that is presented last is shown, in seconds; 0 without packets. */
  readonly lastDurationOf: (stream: number) => number;
  /** Returns whether packets of the stream have a decoding time only. */
  readonly lacksShownTimes: (stream: number) => boolean;
  /** Returns the number of the stream's packets. */
  readonly packetsOf: (stream: number) => number;
}

interface StreamClock {
  /** Decoding time of the last packet, and of the one that is to follow, in seconds. */
  readonly last: number;
  readonly next: number;
  /** Presentation time of the packet that is presented last, and its end. */
  readonly shown: number;
  readonly end: number;
}

const PACKET =
  /"stream_index": (\d+)(?:, "pts_time": "(-?[\d.]+)")?(?:, "dts_time": "(-?[\d.]+)")?(?:, "duration_time": "([\d.]+)")?/;

/** Jumps of the packet times beyond which the clock has restarted, in seconds: the limits of ffmpeg. */
const JUMP_AHEAD = 10;
const JUMP_BACK = 0.1;

interface ClockOptions {
  /** The format may consist of consecutive parts, each with a clock of its own. */
  readonly joinsParts: boolean;
  /** Duration of the longest possible packet, in seconds: longer ones are ignored. */
  readonly longest: number;
  /** The format has no gaps: each packet follows the previous one, whatever its timestamp. */
  readonly isGapless: boolean;
}

/** Creates a clock for one file. */
export function makePacketClock({ joinsParts, longest, isGapless }: ClockOptions): PacketClock {
  const streams = new Map<number, StreamClock>();
  const starts = new Map<number, number | null>();
  const counts = new Map<number, number>();
  const withoutShownTimes = new Set<number>();
  let offset = 0;
  const noteShownTime = ({ stream, shownAt, decodedAt }: Packet): void => {
    if (shownAt === null && decodedAt !== null) withoutShownTimes.add(stream);
  };
  return {
    read: (line) => {
      const printed = packetOf(line);
      if (printed === null || (printed.duration ?? 0) > longest) return;
      noteShownTime(printed);
      const packet = isGapless ? { ...printed, shownAt: null, decodedAt: null } : printed;
      const before = streams.get(packet.stream);
      if (before === undefined) starts.set(packet.stream, packet.shownAt);
      if (joinsParts && before !== undefined) offset += jump(before, packet, offset);
      streams.set(packet.stream, advance(before, packet, offset));
      counts.set(packet.stream, (counts.get(packet.stream) ?? 0) + 1);
    },
    endOf: (stream) => streams.get(stream)?.end ?? null,
    startOf: (stream) => starts.get(stream) ?? null,
    lastDurationOf: (stream) => {
      const { shown, end } = streams.get(stream) ?? { shown: 0, end: 0 };
      return end - shown;
    },
    lacksShownTimes: (stream) => withoutShownTimes.has(stream),
    packetsOf: (stream) => counts.get(stream) ?? 0,
  };
}

interface Packet {
  readonly stream: number;
  readonly shownAt: number | null;
  readonly decodedAt: number | null;
  readonly duration: number | null;
}

function packetOf(line: string): Packet | null {
  const found = PACKET.exec(line);
  if (found === null) return null;
  const [shownAt = null, decodedAt = null, duration = null] = found.slice(2).map(secondsOf);
  return { stream: Number(found[1]), shownAt, decodedAt, duration };
}

function secondsOf(printed: string | undefined): number | null {
  return printed === undefined ? null : Number(printed);
}

/** Returns the offset that moves a packet behind the previous one when the clock restarted between them; else 0. */
function jump({ last, next }: StreamClock, { decodedAt, shownAt }: Packet, offset: number): number {
  const time = decodedAt ?? shownAt;
  if (time === null) return 0;
  const at = time + offset;
  return at < last - JUMP_BACK || at > next + JUMP_AHEAD ? next - at : 0;
}

/** Clock before the first packet. */
const START: StreamClock = { last: 0, next: 0, shown: -Infinity, end: -Infinity };

/** Returns the clock behind a packet. AVI has decoding times only; packets of MPEG streams may have none at all. */
function advance(before: StreamClock | undefined, packet: Packet, offset: number): StreamClock {
  const { shownAt, decodedAt } = packet;
  const time = decodedAt ?? shownAt;
  const previous = before ?? START;
  const last = time === null ? previous.next : time + offset;
  const duration = packet.duration ?? previousDuration(before, last);
  const shown = shownAt === null ? last : shownAt + offset;
  const end = Math.max(shown, last) + duration;
  return {
    last,
    next: last + duration,
    shown: Math.max(shown, last, previous.shown),
    end: Math.max(end, previous.end),
  };
}

/** Returns the duration of a packet without one, such as those of WMA Lossless: that of the previous packet. */
function previousDuration(before: StreamClock | undefined, last: number): number {
  return before === undefined ? 0 : Math.min(Math.max(0, last - before.last), JUMP_AHEAD);
}
