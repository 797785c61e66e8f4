import { describe, expect, it } from 'vitest';
import { leadsOf, noiseOf, ratioToOurs, winsOf } from './compare.ts';
import { OURS, type Figure, type MeasuredCase } from './measured.ts';

const FRONT = { speed: { metrics: ['perSecond'], better: 'more' }, size: 'bytes', similarity: 'score' } as const;

const figure = (who: string, metric: string, ...samples: number[]): Figure => ({ who, metric, samples });

function measured(figures: Figure[]): MeasuredCase {
  const about = { name: 'a photo', date: '2026-01-02', cores: 2, memoryGib: 4, versions: {}, remarks: {} };
  return { ...about, figures };
}

/** A case in which the peer has these figures and the service 10 a second, 1000 bytes, a score of 74. */
function against(peer: { perSecond: number[]; bytes: number; score: number }): MeasuredCase {
  return measured([
    figure(OURS, 'perSecond', 10, 10, 10),
    figure(OURS, 'bytes', 1000),
    figure(OURS, 'score', 74),
    figure('peer', 'perSecond', ...peer.perSecond),
    figure('peer', 'bytes', peer.bytes),
    figure('peer', 'score', peer.score),
  ]);
}

describe('the front', () => {
  it('is broken by a peer that is faster and smaller at the same similarity', () => {
    const wins = winsOf(against({ perSecond: [12, 12, 12], bytes: 900, score: 74 }), FRONT);
    expect(wins).toEqual([{ who: 'peer', metric: 'perSecond', faster: 1.2, smaller: 0.9 }]);
  });

  it.each([
    ['larger', { perSecond: [20, 20, 20], bytes: 1001, score: 74 }],
    ['slower', { perSecond: [9, 9, 9], bytes: 500, score: 74 }],
    ['less like the input', { perSecond: [20, 20, 20], bytes: 500, score: 73 }],
    ['faster by less than its noise', { perSecond: [9, 11, 13], bytes: 500, score: 74 }],
    ['smaller by a hair', { perSecond: [20, 20, 20], bytes: 998, score: 74 }],
  ])('holds against a peer that is %s', (_how, peer) => {
    expect(winsOf(against(peer), FRONT)).toEqual([]);
  });

  it('takes less for better where seconds are measured', () => {
    const front = { speed: { metrics: ['seconds'], better: 'less' }, size: 'bytes' } as const;
    const figures = [
      figure(OURS, 'seconds', 2, 2),
      figure(OURS, 'bytes', 10),
      figure('peer', 'seconds', 1, 1),
      figure('peer', 'bytes', 9),
    ];
    expect(winsOf(measured(figures), front)).toMatchObject([{ who: 'peer', faster: 2 }]);
    expect(winsOf({ ...measured(figures), remarks: { peer: 'lost: links' } }, front)).toEqual([]);
  });
});

describe('the leads of peers', () => {
  const front = { speed: { metrics: ['one', 'four'], better: 'less' } } as const;

  it('are the points where a peer is faster, the largest first', () => {
    const figures = [
      figure(OURS, 'one', 2, 2),
      figure(OURS, 'four', 8, 8),
      figure('a', 'one', 1, 1),
      figure('a', 'four', 9, 9),
      figure('b', 'four', 2, 2),
    ];
    expect(leadsOf(measured(figures), front)).toEqual([
      { who: 'b', metric: 'four', faster: 4 },
      { who: 'a', metric: 'one', faster: 2 },
    ]);
  });

  it('are none within the noise', () => {
    expect(leadsOf(measured([figure(OURS, 'one', 2, 2, 2), figure('a', 'one', 1, 1.9, 3)]), front)).toEqual([]);
  });
});

it('a ratio is the median of the ratios of rounds that belong together', () => {
  const one = measured([figure(OURS, 's', 1, 10, 100), figure('peer', 's', 2, 20, 50)]);
  expect(ratioToOurs(one, 'peer', 's')).toBe(2);
  expect(ratioToOurs(one, 'absent', 's')).toBeNull();
});

it('noise is half of the spread, as a part of the median', () => {
  expect(noiseOf([9, 10, 11])).toBeCloseTo(0.1);
  expect(noiseOf([5])).toBe(0);
});
