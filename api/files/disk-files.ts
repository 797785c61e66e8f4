/**
 * File store on disk, for an installation on one machine. An object is a folder with one file that is named by its
 * content: `<directory>/objects/uploads/upl_…/@<sha256>`. Keys contain no `@`, so objects never collide with the
 * folders of longer keys.
 *
 *   put: @temp/<owner> (0600) → hashed, counted, fsync → renamed into the folder → older files removed → fsync
 *
 * A crash leaves the old file, the new one or both. Readers open the newest, so an object is always complete.
 * Several processes may use one directory.
 */
import { createHash, randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, rmdir, stat, utimes, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Clock } from '#crds/process/clock.ts';
import type { RingKey } from '#crds/process/ring-key.ts';
import { signUrl } from '#api/files/signed-url.ts';
import { WITHOUT_PARTS, FileTooLarge, SizeMismatch, type FileStore } from './file-store.ts';
import { checkedKey, filePath } from './file-key.ts';
import { makeFolder, modesIn, type Modes } from './file-modes.ts';
import { sweepTempFiles, tempName } from './temp-files.ts';

interface DiskFilesDeps {
  readonly clock: Clock;
  /** MEDIAJOBS_FILES_DIR; created when it is missing. */
  readonly directory: string;
  /** MEDIAJOBS_FILES_URL: address of the file server of this directory. */
  readonly baseUrl: string;
  readonly linkKeys: readonly RingKey[];
}

interface StoredFile {
  readonly path: string;
  readonly sha256: string;
  readonly size: number;
  readonly modifiedMs: number;
}

/** Opens the store and deletes the temporary files of dead processes. */
export async function openDiskFiles(deps: DiskFilesDeps): Promise<FileStore> {
  const objects = join(deps.directory, 'objects');
  const temp = join(deps.directory, '@temp');
  const modes = await modesIn(deps.directory);
  await makeFolder(objects, modes);
  await makeFolder(temp, modes);
  await sweepTempFiles(temp);

  const folderOf = (key: string): string => join(objects, ...checkedKey(key).split('/'));
  const sign = (method: 'GET' | 'PUT', key: string, seconds: number): string => {
    const expires = Math.floor(deps.clock.now().getTime() / 1000) + seconds;
    return signUrl(deps.linkKeys, { method, base: deps.baseUrl, path: filePath(checkedKey(key)), expires });
  };

  return {
    put: async (key, body, limit) => {
      const folder = folderOf(key);
      const path = join(temp, tempName(randomUUID()));
      try {
        const written = await writeTemp(path, { body, limit, modes });
        await moveIn(path, join(folder, `@${written.sha256}`), modes);
        for (let parent = folder; parent.startsWith(objects); parent = dirname(parent)) await syncFolder(parent);
        return { ...written, etag: etagOf(written.sha256) };
      } finally {
        await rm(path, { force: true });
      }
    },
    get: async (key, range) => {
      const found = await openCurrent(folderOf(key));
      if (found === null) return null;
      return { size: found.size, etag: etagOf(found.sha256), body: found.handle.createReadStream(range ?? {}) };
    },
    head: async (key) => {
      const [current] = await storedFiles(folderOf(key));
      return current === undefined ? null : { size: current.size, etag: etagOf(current.sha256) };
    },
    delete: (key) => remove(folderOf(key), objects),
    signedGet: async (key, seconds) => sign('GET', key, seconds),
    signedPut: async (key, seconds) => sign('PUT', key, seconds),
    ...WITHOUT_PARTS,
    dropParts: async () => undefined,
    list: (prefix) => keysBelow(objects, prefix),
  };
}

function etagOf(sha256: string): string {
  return `"${sha256}"`;
}

async function writeTemp(
  path: string,
  { body, limit, modes }: { body: Readable; limit: { maxBytes: number; size?: number }; modes: Modes },
): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256');
  let size = 0;
  await using handle = await open(path, 'wx', modes.file);
  for await (const chunk of body as AsyncIterable<Buffer | string>) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    size += bytes.length;
    if (size > limit.maxBytes) throw new FileTooLarge(`received more than ${limit.maxBytes} bytes`);
    hash.update(bytes);
    await writeWhole(handle, bytes);
  }
  if (limit.size !== undefined && size !== limit.size) {
    throw new SizeMismatch(`received ${size} bytes; ${limit.size} were announced`);
  }
  await handle.sync();
  return { size, sha256: hash.digest('hex') };
}

/** Writes all bytes. A full disk may accept a part of them: the next write then throws ENOSPC. */
async function writeWhole(handle: FileHandle, bytes: Buffer): Promise<void> {
  let offset = 0;
  while (offset < bytes.length) offset += (await handle.write(bytes, offset)).bytesWritten;
}

/** Renames the written file to be the newest one of its object and deletes the older ones. */
async function moveIn(path: string, target: string, modes: Modes): Promise<void> {
  await renameAsNewest({ path, target, modes });
  const files = await storedFiles(dirname(target));
  const own = files.findIndex((file) => file.path === target);
  // Only older ones: concurrent writers of a key must not delete the file of each other.
  const older = own === -1 ? [] : files.slice(own + 1);
  for (const file of older) await rm(file.path, { force: true });
}

interface Move {
  readonly path: string;
  readonly target: string;
  readonly modes: Modes;
}

async function renameAsNewest(move: Move, attempts = 5): Promise<void> {
  const { path, target, modes } = move;
  const folder = dirname(target);
  await makeFolder(folder, modes);
  const writtenMs = (await stat(path)).mtimeMs;
  const newestMs = (await storedFiles(folder))[0]?.modifiedMs ?? 0;
  const modifiedMs = Math.max(writtenMs, Math.ceil(newestMs) + 1);
  await utimes(path, modifiedMs / 1000, modifiedMs / 1000);
  try {
    await rename(path, target);
  } catch (error) {
    // A concurrent delete removed the empty folder.
    if (!isMissing(error) || attempts === 1) throw error;
    await renameAsNewest(move, attempts - 1);
  }
}

/** Opens the newest file of an object; null when there is none. A later put or delete does not affect the reader. */
async function openCurrent(
  folder: string,
  attempts = 10,
): Promise<{ handle: FileHandle; size: number; sha256: string } | null> {
  const [current] = await storedFiles(folder);
  if (current === undefined) return null;
  try {
    const handle = await open(current.path, 'r');
    const { size } = await handle.stat();
    return { handle, size, sha256: current.sha256 };
  } catch (error) {
    // Replaced after the folder was read.
    if (isMissing(error) && attempts > 1) return openCurrent(folder, attempts - 1);
    throw error;
  }
}

/** Returns the files of an object, newest first. */
async function storedFiles(folder: string): Promise<StoredFile[]> {
  const names = (await readNames(folder)).filter((name) => /^@[0-9a-f]{64}$/.test(name));
  const files: StoredFile[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const found = await stat(path).catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    });
    if (found !== null) {
      files.push({ path, sha256: name.slice(1), size: found.size, modifiedMs: found.mtimeMs });
    }
  }
  return files.toSorted((a, b) => (isNewer(a, b) ? -1 : 1));
}

type Age = Pick<StoredFile, 'path' | 'modifiedMs'>;

/** Orders files by modification time, then by path, so that all processes agree. */
function isNewer(file: Age, other: Age): boolean {
  return file.modifiedMs === other.modifiedMs ? file.path < other.path : file.modifiedMs > other.modifiedMs;
}

async function remove(folder: string, objects: string): Promise<void> {
  for (const file of await storedFiles(folder)) await rm(file.path, { force: true });
  let remaining = folder;
  while (remaining !== objects && (await removeIfEmpty(remaining))) remaining = dirname(remaining);
  await syncFolder(remaining);
}

/** Removes an empty folder. Returns whether it is absent afterwards. */
async function removeIfEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    if (isMissing(error)) return true;
    if (hasCode(error, 'ENOTEMPTY')) return false;
    throw error;
  }
}

async function* keysBelow(objects: string, prefix: string): AsyncGenerator<string> {
  const start = prefix.slice(0, prefix.lastIndexOf('/') + 1).replace(/\/$/, '');
  if (start !== '') checkedKey(start);
  for await (const key of walk(objects, start)) if (key.startsWith(prefix)) yield key;
}

async function* walk(objects: string, key: string): AsyncGenerator<string> {
  const names = (await readNames(join(objects, key))).toSorted();
  if (key !== '' && names.some((name) => name.startsWith('@'))) yield key;
  for (const name of names.filter((entry) => !entry.startsWith('@'))) {
    yield* walk(objects, key === '' ? name : `${key}/${name}`);
  }
}

async function readNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function syncFolder(path: string): Promise<void> {
  try {
    await using handle = await open(path, 'r');
    await handle.sync();
  } catch (error) {
    // Removed by a concurrent delete: there is nothing to make durable.
    if (!isMissing(error)) throw error;
  }
}

function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT');
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
