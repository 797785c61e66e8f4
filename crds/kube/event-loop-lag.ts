/** Measures the delay of timers. `worstMs` returns the current lag of a process that is busy or was stopped. */
export function watchEventLoopLag(everyMs = 1000): { worstMs: () => number; stop: () => void } {
  let expected = performance.now() + everyMs;
  let lag = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    lag = Math.max(0, now - expected);
    expected = now + everyMs;
  }, everyMs);
  timer.unref();
  return { worstMs: () => Math.max(lag, performance.now() - expected), stop: () => clearInterval(timer) };
}
