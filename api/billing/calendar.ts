/** Returns the UTC day of a time, as YYYY-MM-DD. */
export function utcDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** Returns the first day of the UTC month of a time, as YYYY-MM-01. Spending is summed per such month. */
export function utcMonth(at: Date): string {
  return `${at.toISOString().slice(0, 7)}-01`;
}
