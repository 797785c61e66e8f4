/** The playing time that ffmpeg's list of packets (`-f framecrc`) adds up to. */

/** Frames a second of a picture whose only packet has no duration. */
const STILL_RATE = 25;

export interface PacketClock {
  /** Takes one line of the list. */
  readonly read: (line: string) => void;
  /** Where the last packet ends, in seconds; null when there was none. */
  readonly seconds: () => number | null;
}

export function makePacketClock(): PacketClock {
  const units = new Map<string, number>();
  let end: number | null = null;
  return {
    read: (line) => {
      const base = /^#tb (\d+): (\d+)\/(\d+)$/.exec(line);
      if (base !== null) units.set(base[1] ?? '', Number(base[2]) / Number(base[3]));
      const packet = /^(\d+), +(-?\d+), +(-?\d+), +(\d+),/.exec(line);
      if (packet === null) return;
      const [, stream = '', decodedAt, shownAt, duration] = packet;
      // AVI says when a packet is decoded only: the other time is then the lowest number there is.
      const start = Math.max(Number(decodedAt), Number(shownAt));
      end = Math.max(end ?? 0, (start + Number(duration)) * (units.get(stream) ?? 0));
    },
    seconds: () => (end === 0 ? 1 / STILL_RATE : end),
  };
}
