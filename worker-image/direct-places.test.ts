import { beforeEach, describe, expect, it } from 'vitest';
import { makeDirectPlaces, type DirectPlace, type DirectPlaces } from '#worker-image/direct-places.ts';

const WORK_MS = 100;
let now: number;
let places: DirectPlaces;

beforeEach(() => {
  now = 0;
  open(2, 4);
});

function open(children: number, queue: number): void {
  places = makeDirectPlaces({ nowMs: () => now }, { children, queue });
}

/** Those who are let in, of so many who come at once. */
function enter(count: number): DirectPlace[] {
  return Array.from({ length: count }, () => places.take()).filter((place) => place !== null);
}

function leave(all: readonly DirectPlace[]): void {
  for (const place of all) place.leave();
}

/** One file after the other, each of which has waited so long. */
function serve(count: number, waitedMs: number, workMs = WORK_MS): void {
  for (let file = 0; file < count; file += 1) {
    const place = places.take();
    place?.begins(waitedMs);
    now += workMs;
    place?.ends();
    place?.leave();
  }
}

describe('the places of the direct lane', () => {
  it('are as many as work and wait; one that was left is free', () => {
    const inside = enter(6);
    expect(inside).toHaveLength(6);
    inside[0]?.leave();
    expect(enter(1)).toHaveLength(1);
    expect(enter(1)).toHaveLength(0);
  });

  it('in a crowd are as many as can be worked on at once', () => {
    leave(enter(7));
    expect(enter(7)).toHaveLength(2);
  });

  it.each([
    { waited: 0, files: 3, admitted: 2 },
    { waited: 0, files: 4, admitted: 3 },
    { waited: 0, files: 8, admitted: 5 },
    { waited: 0, files: 20, admitted: 6 },
    { waited: 0.1 * WORK_MS, files: 5, admitted: 2 },
    { waited: WORK_MS, files: 5, admitted: 2 },
  ])('in a crowd grow while processes are idle: %o', ({ waited, files, admitted }) => {
    serve(1, 0);
    leave(enter(7));
    serve(files, waited);
    expect(enter(7)).toHaveLength(admitted);
  });

  it('in a crowd shrink again when files wait for long', () => {
    serve(1, 0);
    leave(enter(7));
    serve(8, 0);
    serve(2, WORK_MS / 2);
    expect(enter(7)).toHaveLength(3);
  });

  it('are all there again when nobody was turned away for a while', () => {
    leave(enter(7));
    now += 4999;
    leave(enter(2));
    now += 1;
    expect(enter(7)).toHaveLength(6);
  });

  it('are all there again after a minute, even if some are turned away all the time', () => {
    const inside = enter(7);
    for (; now < 59_000; now += 1000) expect(enter(1)).toHaveLength(0);
    leave(inside);
    now = 60_000;
    expect(enter(7)).toHaveLength(6);
  });

  it('are no more than files that are begun in half a minute', () => {
    open(2, 100);
    serve(1, 0, 10_000);
    expect(enter(200)).toHaveLength(8);
  });

  it('are given to nobody who waits where nobody may', () => {
    open(2, 0);
    expect(enter(3)).toHaveLength(2);
  });
});
