import { InvalidArgumentError } from 'commander';
import { microUsdOf, MAX_USD } from '#api/billing/usd.ts';

/** Returns a parser of a repeatable option. @param allowed valid values; null for any. */
export function eachOf<Value extends string>(allowed: readonly Value[] | null) {
  return (text: string, before: readonly Value[] | undefined): readonly Value[] => {
    const value = allowed === null ? (text as Value) : allowed.find((candidate) => candidate === text);
    if (value === undefined) throw new InvalidArgumentError(`Allowed choices are ${allowed?.join(', ')}.`);
    return [...(before ?? []), value];
  };
}

/** Parses an amount in dollars to micro-dollars, or `none`, because commander would replace null by ''. */
export function usdOrNone(text: string): number | 'none' {
  if (text === 'none') return text;
  const microUsd = microUsdOf(text);
  if (microUsd !== null) return microUsd;
  throw new InvalidArgumentError(
    `Give US dollars from 0 to ${MAX_USD} with at most 6 decimals, such as 12.50, or none.`,
  );
}
