import { describe, expect, it } from 'vitest';
import { checkFileName, checkNames, repeatedTypes } from './check-names.ts';

const problemsOf = (text: string): string[] => checkNames('file.ts', text).problems;

describe('a check of names', () => {
  it.each([
    ['a constant', 'const crowdLimit = 3;'],
    ['a parameter', 'function admit(toldAt: number): void {}'],
    ['a property of a type', 'interface Request { readonly askedBy: string }'],
    ['a private field', 'class Queue { #places = 3; }'],
    ['an upper-case constant', 'const DOOR_SECONDS = 3;'],
  ])('refuses a banned word in %s', (_declaration, text) => {
    expect(problemsOf(text)).toHaveLength(1);
    expect(problemsOf(text)[0]).toMatch(/^file\.ts:1: \w+: say .+ in place of "\w+"$/);
  });

  it.each([
    ['in another word', 'const replaced = passagesOf; const outdoor = 1;'],
    ['that is only used', 'const x = response.told + door.asked;'],
    ['in its usual sense', 'const decimalPlaces = 2; function sortInPlace(): void {} let leaveWithoutOwner = true;'],
    ['in a quoted name', "const columns = { 'asked_at': 1 };"],
  ])('accepts a banned word %s', (_use, text) => {
    expect(problemsOf(text)).toStrictEqual([]);
  });

  it('refuses type names that say nothing', () => {
    expect(problemsOf('interface Step { readonly index: number }')).toStrictEqual([
      'file.ts:1: the type name Step does not say what it is',
    ]);
  });

  it('refuses a banned word in a file name', () => {
    expect(checkFileName('file-wall')).toStrictEqual(['file-wall: say sandbox, isolation in place of "wall"']);
    expect(checkFileName('bubblewrap')).toStrictEqual([]);
  });

  it.each([
    ['a noun', '/** The sum. */ export function sum(): number { return 1; }'],
    ['a plural noun', '/** Seconds until the next attempt. */ export const delay = (): number => 1;'],
    ['"Gives"', '/** Gives the sum. */ export async function sum(): Promise<number> { return 1; }'],
  ])('refuses a docstring of a function with a result that begins with %s', (_word, text) => {
    expect(problemsOf(text)).toHaveLength(1);
  });

  it.each([
    ['a verb', '/** Returns the sum. */ export function sum(): number { return 1; }'],
    ['a tag only', '/** @throws Error always. */ export function sum(): number { return 1; }'],
    ['a noun, without a result', '/** The loop. */ export async function run(): Promise<void> {}'],
    ['a noun, not exported', '/** The sum. */ function sum(): number { return 1; }'],
    ['a noun, for a constant', '/** The sum. */ export const SUM = 1;'],
  ])('accepts a docstring that begins with %s', (_word, text) => {
    expect(problemsOf(text)).toStrictEqual([]);
  });

  it('names each exported type that several files have', () => {
    const { exportedTypes } = checkNames('a.ts', 'export interface Row {} interface Own {} export type Id = string;');
    expect(exportedTypes).toStrictEqual(['Row', 'Id']);
    const types = new Map([
      ['Row', ['a.ts', 'b.ts']],
      ['Id', ['a.ts']],
    ]);
    expect(repeatedTypes(types)).toStrictEqual(['Row: a.ts, b.ts']);
  });
});
