import { describe, expect, it } from 'vitest';
import { barChart, niceMaximum } from '#api/dashboard/bar-chart.ts';

describe('the axis of a chart', () => {
  it.each([
    [0, 1],
    [1, 1],
    [3, 5],
    [12, 20],
    [50, 50],
    [0.0031, 0.005],
    [990, 1000],
  ])('ends for %d at %d', (value, end) => {
    expect(niceMaximum(value)).toBeCloseTo(end, 10);
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
