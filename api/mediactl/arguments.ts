import { InvalidArgumentError } from 'commander';
import { microUsdOf, MOST_USD } from '#api/billing/usd.ts';

/** Reads an option that may be repeated; with a list, each value must be in it. */
export function eachOf<Value extends string>(allowed: readonly Value[] | null) {
  return (text: string, before: readonly Value[] | undefined): readonly Value[] => {
    const value = allowed === null ? (text as Value) : allowed.find((candidate) => candidate === text);
    if (value === undefined) throw new InvalidArgumentError(`Allowed choices are ${allowed?.join(', ')}.`);
    return [...(before ?? []), value];
  };
}

/** Micro-dollars of an amount in dollars, or `none`. (commander would turn null into ''.) */
export function usdOrNone(text: string): number | 'none' {
  if (text === 'none') return text;
  const microUsd = microUsdOf(text);
  if (microUsd !== null) return microUsd;
  throw new InvalidArgumentError(
    `Give US dollars from 0 to ${MOST_USD} with at most 6 decimals, such as 12.50, or none.`,
  );
}
