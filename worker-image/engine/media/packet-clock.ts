/** Where the streams of a file end, as the times of their packets add up that ffprobe prints. */

export interface PacketClock {
  /** Takes one line of the list. */
  readonly read: (line: string) => void;
  /** Where the stream's last packet ends, in seconds on the file's own clock; null when it has none. */
  readonly endOf: (stream: number) => number | null;
}

interface Stream {
  /** When its last packet is decoded, and when its next one is. */
  last: number;
  next: number;
  end: number;
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
}

export function makePacketClock({ joinsParts, longest }: ClockOptions): PacketClock {
  const streams = new Map<number, Stream>();
  let offset = 0;
  return {
    read: (line) => {
      const found = PACKET.exec(line);
      if (found === null) return;
      const index = Number(found[1]);
      const [shownAt = null, decodedAt = null, duration] = found.slice(2).map(secondsOf);
      if ((duration ?? 0) > longest) return;
      const stream = streams.get(index);
      const told = decodedAt ?? shownAt;
      if (joinsParts && stream !== undefined && told !== null && isJump(stream, told + offset))
        offset = stream.next - told;
      const decoded = told === null ? (stream?.next ?? 0) : told + offset;
      const next = decoded + (duration ?? 0);
      const shown = shownAt === null ? decoded : shownAt + offset;
      const end = Math.max(shown, decoded) + (duration ?? 0);
      streams.set(index, { last: decoded, next, end: Math.max(end, stream?.end ?? -Infinity) });
    },
    endOf: (stream) => streams.get(stream)?.end ?? null,
  };
}

function secondsOf(printed: string | undefined): number | null {
  return printed === undefined ? null : Number(printed);
}

function isJump({ last, next }: Stream, at: number): boolean {
  return at < last - JUMP_BACK || at > next + JUMP_AHEAD;
}
