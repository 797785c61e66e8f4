import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openSecrets } from '#api/embedded/secrets.ts';
import { settings } from '#crds/process/settings.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));
const first = new Date('2026-11-21T05:00:00.000Z');
const later = new Date('2026-12-01T00:00:00.000Z');
const open = (name: string, now: Date) => openSecrets({ clock: { now: () => now } }, path.join(folder, name));

describe('the secrets of a data folder', () => {
  it('are generated once, in the form of the settings', () => {
    const made = open('new.json', first);
    for (const name of ['MEDIAJOBS_ENCRYPTION_KEYS', 'MEDIAJOBS_LINK_KEYS', 'MEDIAJOBS_KEY_PEPPER'] as const) {
      expect(settings.shape[name].safeParse(made[name]).success).toBe(true);
    }
    expect(settings.shape.MEDIAJOBS_RECEIPT_KEYS.parse(made.MEDIAJOBS_RECEIPT_KEYS)).toMatchObject([
      { kind: 'private', createdAt: first },
    ]);
    expect(open('new.json', later)).toStrictEqual(made);
  });

  it('of an older version receive a receipt key once and keep their other keys', () => {
    const older = { MEDIAJOBS_KEY_PEPPER: 'p', MEDIAJOBS_ENCRYPTION_KEYS: 'e', MEDIAJOBS_LINK_KEYS: 'l' };
    const file = path.join(folder, 'older.json');
    writeFileSync(file, JSON.stringify(older));
    const completed = open('older.json', first);
    expect(completed).toMatchObject(older);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toStrictEqual(completed);
    expect(open('older.json', later)).toStrictEqual(completed);
  });
});
