import { describe, expect, it } from 'vitest';
import { makePacketClock } from '#worker-image/engine/media/packet-clock.ts';

type Time = number | null;

/** Returns a packet as ffprobe prints it, without unknown times. */
function packet(stream: number, [shown, decoded, duration]: readonly [Time, Time, Time]): string {
  const times = [
    ['pts_time', shown],
    ['dts_time', decoded],
    ['duration_time', duration],
  ] as const;
  const known = times.flatMap(([name, time]) => (time === null ? [] : [`, "${name}": "${time.toFixed(6)}"`]));
  return `        { "stream_index": ${stream}${known.join('')} },`;
}

const OPTIONS = { joinsParts: true, longest: 0.12, isGapless: false };

function endOf(packets: readonly (readonly [Time, Time, Time])[], options = OPTIONS): number | null {
  const clock = makePacketClock(options);
  for (const times of packets) clock.read(packet(0, times));
  return clock.endOf(0);
}

describe('makePacketClock', () => {
  it('ends each stream with the packet that is presented last, its duration included, and counts its packets', () => {
    const clock = makePacketClock({ joinsParts: false, longest: Infinity, isGapless: false });
    const lines = [
      packet(0, [0, -0.08, 0.04]),
      packet(1, [0, 0, 0.023]),
      packet(0, [0.08, -0.04, 0.04]),
      packet(0, [0.04, 0, 0.04]),
      '            "side_data_list": [',
    ];
    lines.forEach(clock.read);
    expect([clock.endOf(0), clock.endOf(1), clock.endOf(2)]).toEqual([0.12, 0.023, null]);
    expect(clock.lastDurationOf(0)).toBeCloseTo(0.04, 6);
    expect([clock.packetsOf(0), clock.packetsOf(1), clock.packetsOf(2)]).toEqual([3, 1, 0]);
  });

  it.each([
    ['without a duration', [[0.4, 0.4, null]], 0.4],
    [
      'without a duration, the last of which lasts as long as the one before',
      [
        [0, 0, null],
        [1.95, 1.95, null],
      ],
      3.9,
    ],
    ['of an AVI, which has decoding times only', [[null, 0.4, 0.04]], 0.44],
    [
      'without times',
      [
        [0.4, 0.4, 0.04],
        [null, null, 0.04],
      ],
      0.48,
    ],
  ] as const)('reads packets %s', (_what, packets, end) => expect(endOf(packets)).toBeCloseTo(end, 6));

  it('continues where a clock restarts', () => {
    const part = [0.5, 0.6, 0.7].map((time) => [time, time, 0.1] as const);
    expect(endOf([...part, ...part])).toBeCloseTo(1.1, 6);
    expect(endOf([...part, ...part], { ...OPTIONS, joinsParts: false })).toBeCloseTo(0.8, 6);
    expect(endOf([...part, [3600, 3600, 0.1]])).toBeCloseTo(0.9, 6);
  });

  it('sums the packets of a format without gaps', () => {
    const jumps = [0, 240.7, 120.4].map((time) => [time, time, 0.1] as const);
    expect(endOf(jumps, { ...OPTIONS, isGapless: true })).toBeCloseTo(0.3, 6);
  });

  it('ignores a packet that is longer than the longest possible one', () =>
    expect(
      endOf([
        [0, 0, 0.02],
        [0.02, 0.02, 0.96],
      ]),
    ).toBe(0.02));
});
