/** How facts are written on pages. */
import { html, type Html } from '#api/dashboard/html.ts';

/** A message of the service: what stands between backticks is code. */
export function prose(message: string): Html {
  return html`${message.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`;
}

/** In UTC; the script shows the reader's own zone, with UTC on hover. */
export function moment(at: Date | string | null, otherwise = '–'): Html {
  if (at === null) return html`${otherwise}`;
  const iso = new Date(at).toISOString();
  const utc = `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
  return html`<time datetime="${iso}" title="${utc}">${utc}</time>`;
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;

/** Binary units, as the interface counts. */
export function bytes(count: number | null): string {
  if (count === null) return '–';
  const power = count < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(count) / Math.log(1024)));
  return `${number(count / 1024 ** power, power === 0 ? 0 : 1)} ${UNITS[power] ?? ''}`;
}

export function number(value: number, decimals = 0): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: decimals });
}

/** With cents, and with more decimals where an amount needs them. */
export function usd(amount: number): string {
  const decimals = Math.round(amount * 1e6) % 10_000 === 0 ? 2 : 6;
  return `$${amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: decimals })}`;
}

/** `1 key`, `2 keys`. */
export function counted(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${number(seconds / 3600, 1)} h`;
}
