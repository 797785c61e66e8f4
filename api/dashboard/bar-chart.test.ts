import { describe, expect, it } from 'vitest';
import { axisEnd, barChart } from '#api/dashboard/bar-chart.ts';

describe('the axis of a chart', () => {
  it.each([
    [0, 2],
    [1, 2],
    [3, 4],
    [12, 20],
    [50, 100],
    [990, 1000],
    [0.0031, 0.005],
    [2.4, 5],
  ])('ends for %d at %d, with a whole number in the middle for whole numbers', (value, end) => {
    expect(axisEnd([0, value])).toBeCloseTo(end, 10);
  });
});

describe('a chart', () => {
  const part = (value: number) => ({ name: 'images', style: 'meter-images', value });
  const { markup } = barChart({
    caption: 'Requests by day',
    bars: [1, 2, 3, 4, 5].map((day) => ({ label: `day <${day}>`, parts: [part(day * 2), part(0)] })),
    format: (value) => `${value} requests`,
  });

  it('names the first, the middle and the last bar', () => {
    expect(markup).toContain('<span>day &lt;1&gt;</span><span>day &lt;3&gt;</span><span>day &lt;5&gt;</span>');
  });

  it('has the values of each bar as its title, without parts that are 0', () => {
    expect(markup).toContain('<title>day &lt;5&gt;\nimages: 10 requests</title>');
  });

  it('draws the highest bar to the value of the axis', () => {
    expect(markup).toContain('<span>10 requests</span><span>5 requests</span><span>0 requests</span>');
    expect(markup).toContain('height="190.0"');
  });
});
