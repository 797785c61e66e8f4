import { InvalidArgumentError } from 'commander';

/** Reads an option that may be repeated; with a list, each value must be in it. */
export function eachOf<Value extends string>(allowed: readonly Value[] | null) {
  return (text: string, before: readonly Value[] | undefined): readonly Value[] => {
    const value = allowed === null ? (text as Value) : allowed.find((candidate) => candidate === text);
    if (value === undefined) throw new InvalidArgumentError(`Allowed choices are ${allowed?.join(', ')}.`);
    return [...(before ?? []), value];
  };
}

const MOST_USD = 1_000_000_000;

/** Micro-dollars of an amount in dollars, or `none`. (commander would turn null into ''.) */
export function usdOrNone(text: string): number | 'none' {
  if (text === 'none') return text;
  const usd = /^\d{1,10}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (usd <= MOST_USD) return Math.round(usd * 1_000_000);
  throw new InvalidArgumentError(
    `Give US dollars from 0 to ${MOST_USD} with at most 6 decimals, such as 12.50, or none.`,
  );
}
