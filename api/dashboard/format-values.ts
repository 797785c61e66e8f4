/** Formats of values on pages. */
import { html, type Html } from '#api/dashboard/html.ts';

/** Formats a message of the service; text between backticks becomes code. */
export function prose(message: string): Html {
  return html`${message.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`;
}

/** Formats a time in UTC, which the script replaces by local time with UTC on hover. @param otherwise text for null. */
export function moment(at: Date | string | null): Html {
  if (at === null) return html`–`;
  const utc = utcText(at);
  return html`<time datetime="${new Date(at).toISOString()}" title="${utc}">${utc}</time>`;
}

/** Formats a time like `moment`; the script replaces it by the time since then, such as “3 minutes ago”. */
export function ago(at: Date | string | null, otherwise = '–'): Html {
  if (at === null) return html`${otherwise}`;
  const utc = utcText(at);
  return html`<time datetime="${new Date(at).toISOString()}" title="${utc}" data-relative>${utc}</time>`;
}

/** Formats a time in UTC, to the second. */
export function utcText(at: Date | string): string {
  const iso = new Date(at).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;

/** Formats a size in binary units, as the API counts. */
export function bytes(count: number | null): string {
  if (count === null) return '–';
  const power = count < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(count) / Math.log(1024)));
  return `${number(count / 1024 ** power, power === 0 ? 0 : 1)} ${UNITS[power] ?? ''}`;
}

/** Formats a number with separators of thousands and a minus sign that is as wide as a digit. */
export function number(value: number, decimals = 0): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: decimals }).replace('-', '−');
}

/** Formats an amount in dollars with 2 decimals, or up to 6 if it is not a whole number of cents. */
export function usd(amount: number): string {
  const decimals = Math.round(amount * 1e6) % 10_000 === 0 ? 2 : 6;
  return `$${amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: decimals })}`;
}

/** Formats a count with its noun: `1 key`, `2 keys`. */
export function counted(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Formats a duration in seconds, minutes or hours. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${number(seconds / 3600, 1)} h`;
}
