import { describe, expect, it } from 'vitest';
import { makePacketClock } from '#worker-image/engine/media/packet-clock.ts';

const secondsOf = (lines: readonly string[]): number | null => {
  const clock = makePacketClock();
  lines.forEach(clock.read);
  return clock.seconds();
};

describe('makePacketClock', () => {
  it('ends with the packet that is shown last, its duration included', () => {
    const lines = [
      '#software: Lavf',
      '#tb 0: 1/12800',
      '#tb 1: 1/44100',
      '0,      -1024,          0,      512,     1000, 0x1',
      '1,          0,          0,     1024,      300, 0x2',
      '0,       -512,       1024,      512,      200, 0x3, F=0x0',
      '0,          0,        512,      512,      100, 0x4, F=0x0',
    ];
    expect(secondsOf(lines)).toBeCloseTo(0.12, 6);
  });

  it.each([
    ['no packet', ['#tb 0: 1/25'], null],
    ['one packet without duration', ['#tb 0: 1/25', '0,          0,          0,        0,      10, 0x1'], 0.04],
    ['packets of an AVI', ['#tb 0: 1/25', '0,         24, -9223372036854775808,        1,      10, 0x1'], 1],
    ['packets before the start only', ['#tb 0: 1/25', '0,         -9,         -9,        1,      10, 0x1'], 0.04],
  ])('reads %s', (_what, lines, seconds) => expect(secondsOf(lines)).toBe(seconds));
});
