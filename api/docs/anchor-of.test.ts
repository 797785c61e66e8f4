import { expect, it } from 'vitest';
import { anchorOf } from '#api/docs/anchor-of.ts';

it.each([
  ['Keys and modes', 'keys-and-modes'],
  ['`input_changed`', 'input_changed'],
  ['GET /v1/jobs/{id}', 'get-v1jobsid'],
  ['What is kept, and for how long?', 'what-is-kept-and-for-how-long'],
  ['Größe: 5 MB', 'größe-5-mb'],
])('anchorOf returns for %j the anchor of GitHub, %s', (heading, anchor) => {
  expect(anchorOf(heading)).toBe(anchor);
});
