import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Registry } from 'prom-client';
import { makeQueueMetrics } from '#crds/kube/queue-metrics.ts';
import { WorkQueue } from '#crds/kube/work-queue.ts';

const OPTIONS = { workers: 2, firstRetryMs: 100, lastRetryMs: 1000 };

describe('work queue', () => {
  let registry: Registry;
  beforeEach(() => {
    vi.useFakeTimers();
    registry = new Registry();
  });
  afterEach(() => void vi.useRealTimers());

  const valueOf = async (name: string, part?: string): Promise<number | undefined> => {
    const { values } = (await registry.getSingleMetric(name)?.get()) ?? { values: [] };
    return values.find((value) => part === undefined || ('metricName' in value && value.metricName === part))?.value;
  };
  /** Creates a queue with handlers that the test ends. */
  const makeHeld = (workers = OPTIONS.workers) => {
    const handled: string[] = [];
    const ends = new Map<string, (again?: number | null) => void>();
    const errors: { key: string; retryMs: number }[] = [];
    const queue = new WorkQueue(
      {
        handle: (key) =>
          new Promise((resolve) => {
            handled.push(key);
            ends.set(key, (again = null) => resolve(again));
          }),
        onError: (_error, key, retryMs) => errors.push({ key, retryMs }),
        metrics: makeQueueMetrics(registry, 'test'),
      },
      { ...OPTIONS, workers },
    );
    const end = async (key: string, again: number | null = null): Promise<void> => {
      ends.get(key)?.(again);
      await vi.advanceTimersByTimeAsync(0);
    };
    return { queue, handled, end, errors };
  };

  it('handles a key once when it is added twice while it waits', async () => {
    const { queue, handled, end } = makeHeld(1);
    queue.add('busy');
    queue.add('a');
    queue.add('a');
    expect(await valueOf('mediajobs_test_queue_depth')).toBe(1);
    await end('busy');
    await end('a');
    expect(handled).toEqual(['busy', 'a']);
  });

  it('handles a key once more when it is added while it is running, never in parallel', async () => {
    const { queue, handled, end } = makeHeld();
    queue.add('a');
    queue.add('a');
    queue.add('a');
    expect(handled).toEqual(['a']);
    await end('a');
    expect(handled).toEqual(['a', 'a']);
    await end('a');
    expect(handled).toEqual(['a', 'a']);
  });

  it('handles at most one key per worker in parallel, in the order of their addition', async () => {
    const { queue, handled, end } = makeHeld(2);
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    expect(handled).toEqual(['a', 'b']);
    await end('b');
    expect(handled).toEqual(['a', 'b', 'c']);
  });

  it('handles the keys of a sweep after all others', async () => {
    const { queue, handled, end } = makeHeld(1);
    queue.add('busy');
    queue.add('swept', 'sweep');
    queue.add('both', 'sweep');
    queue.add('late');
    queue.add('both');
    queue.add('late', 'sweep');
    for (const key of ['busy', 'late', 'both', 'swept']) await end(key);
    expect(handled).toEqual(['busy', 'late', 'both', 'swept']);
  });

  it('measures additions, failures, waits and durations', async () => {
    const { queue, end } = makeHeld(1);
    queue.add('a');
    queue.add('b');
    await vi.advanceTimersByTimeAsync(3000);
    await end('a');
    await end('b');
    expect(await valueOf('mediajobs_test_queue_adds_total')).toBe(2);
    expect(await valueOf('mediajobs_test_queue_retries_total')).toBe(0);
    expect(await valueOf('mediajobs_test_queue_wait_seconds', 'mediajobs_test_queue_wait_seconds_sum')).toBeCloseTo(
      3,
      1,
    );
    expect(await valueOf('mediajobs_test_queue_work_seconds', 'mediajobs_test_queue_work_seconds_count')).toBe(2);
  });

  it('handles a key again after the delay that the handler returns', async () => {
    const { queue, handled, end } = makeHeld();
    queue.add('a');
    await end('a', 500);
    await vi.advanceTimersByTimeAsync(499);
    expect(handled).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(handled).toHaveLength(2);
  });

  it('uses the earliest of several delays of a key', async () => {
    const { queue, handled } = makeHeld();
    queue.addAfter('a', 300);
    queue.addAfter('a', 100);
    queue.addAfter('a', 200);
    await vi.advanceTimersByTimeAsync(100);
    expect(handled).toEqual(['a']);
  });

  it('cancels the timer of a key that is added without a delay', async () => {
    const { queue, handled, end } = makeHeld();
    queue.addAfter('a', 100);
    queue.add('a');
    await end('a');
    await vi.advanceTimersByTimeAsync(1000);
    expect(handled).toEqual(['a']);
  });

  it('doubles the delay after each error of a key up to the limit and resets it after a success', async () => {
    let failing = true;
    const retries: number[] = [];
    const queue = new WorkQueue(
      {
        handle: async () => {
          if (failing) throw new Error('Not now.');
          return null;
        },
        onError: (_error, _key, retryMs) => retries.push(retryMs),
        metrics: makeQueueMetrics(registry, 'test'),
      },
      OPTIONS,
    );
    queue.add('a');
    await vi.advanceTimersByTimeAsync(100 + 200 + 400 + 800 + 1000);
    expect(retries).toEqual([100, 200, 400, 800, 1000, 1000]);
    failing = false;
    await vi.advanceTimersByTimeAsync(1000);
    failing = true;
    queue.add('a');
    await vi.advanceTimersByTimeAsync(0);
    expect(retries.at(-1)).toBe(100);
    await queue.stop();
  });

  it('stops after the running keys without a start of further ones', async () => {
    const { queue, handled, end } = makeHeld(1);
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 10);
    const stopped = queue.stop();
    await end('a');
    await stopped;
    queue.add('d');
    await vi.advanceTimersByTimeAsync(1000);
    expect(handled).toEqual(['a']);
  });
});
