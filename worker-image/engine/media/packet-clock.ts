/** Where the streams of a file end, as the times of their packets add up that ffprobe prints. */

export interface PacketClock {
  /** Takes one line of the list. */
  readonly read: (line: string) => void;
  /** Where the stream's last packet ends, in seconds on the file's own clock; null when it has none. */
  readonly endOf: (stream: number) => number | null;
  /** When its first packet is shown, likewise; null also when that does not say. */
  readonly startOf: (stream: number) => number | null;
}

interface Stream {
  /** When its last packet is decoded, and when its next one is. */
  readonly last: number;
  readonly next: number;
  readonly end: number;
}

const PACKET =
  /"stream_index": (\d+)(?:, "pts_time": "(-?[\d.]+)")?(?:, "dts_time": "(-?[\d.]+)")?(?:, "duration_time": "([\d.]+)")?/;

/** Seconds that a clock may jump ahead, or back, and still be the same clock; ffmpeg's own bounds. */
const JUMP_AHEAD = 10;
const JUMP_BACK = 0.1;

interface ClockOptions {
  /** The format may be parts one behind the other whose clocks begin anew. */
  readonly joinsParts: boolean;
  /** Seconds of the longest packet that the format has: what claims more is none. */
  readonly longest: number;
  /** The format has no pauses: each packet follows the one before, whatever time it is given. */
  readonly isGapless: boolean;
}

export function makePacketClock({ joinsParts, longest, isGapless }: ClockOptions): PacketClock {
  const streams = new Map<number, Stream>();
  const starts = new Map<number, number | null>();
  let offset = 0;
  return {
    read: (line) => {
      const told = packetOf(line);
      if (told === null || (told.duration ?? 0) > longest) return;
      const packet = isGapless ? { ...told, shownAt: null, decodedAt: null } : told;
      const before = streams.get(packet.stream);
      if (before === undefined) starts.set(packet.stream, packet.shownAt);
      if (joinsParts && before !== undefined) offset += jump(before, packet, offset);
      streams.set(packet.stream, passed(before, packet, offset));
    },
    endOf: (stream) => streams.get(stream)?.end ?? null,
    startOf: (stream) => starts.get(stream) ?? null,
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

/** What brings the packet to where the one before it ends, when the clock began anew between them; else 0. */
function jump({ last, next }: Stream, { decodedAt, shownAt }: Packet, offset: number): number {
  const told = decodedAt ?? shownAt;
  if (told === null) return 0;
  const at = told + offset;
  return at < last - JUMP_BACK || at > next + JUMP_AHEAD ? next - at : 0;
}

/** AVI says only when a packet is decoded; some packets of MPEG streams say nothing and follow the one before. */
function passed(before: Stream | undefined, packet: Packet, offset: number): Stream {
  const { shownAt, decodedAt } = packet;
  const told = decodedAt ?? shownAt;
  const last = told === null ? (before?.next ?? 0) : told + offset;
  const duration = packet.duration ?? pause(before, last);
  const shown = shownAt === null ? last : shownAt + offset;
  const end = Math.max(shown, last) + duration;
  return { last, next: last + duration, end: Math.max(end, before?.end ?? -Infinity) };
}

/** A packet that tells no duration, such as one of WMA Lossless, lasts as long as the one before it did. */
function pause(before: Stream | undefined, last: number): number {
  return before === undefined ? 0 : Math.min(Math.max(0, last - before.last), JUMP_AHEAD);
}
