/**
 * Copies of ffmpeg's libraries without the libraries behind devices, filters and network protocols that no argument of
 * ours names. Two thirds of the start of ffmpeg and ffprobe were spent on loading them.
 * See hack/decisions/0093-ffmpeg-without-unused-libraries.md.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { dependenciesOf, withoutDependencies } from '#worker-image/tools/elf-dependencies.ts';
import type { RunCommand } from '#worker-image/tools/run-command.ts';

/** Folder of the copies, in that of `NODE_COMPILE_CACHE`. */
const FOLDER = 'ffmpeg-libraries';
/** File that names the libraries from which the copies were made. */
const SOURCES = 'sources.json';
const PROGRAM = '/usr/bin/ffmpeg';
const SYSTEM_LIBRARIES: Partial<Record<NodeJS.Architecture, string>> = {
  x64: '/usr/lib/x86_64-linux-gnu',
  arm64: '/usr/lib/aarch64-linux-gnu',
};

/** Libraries of ffmpeg whose dependencies are removed. */
const PRUNED = /^lib(avdevice|avfilter|avformat|avcodec|avutil)\.so/;
const OWN = /^lib(av\w+|sw\w+|postproc|c|m)\.so/;
/** Everything behind a device: recording and playback. Only `lavfi` of them needs nothing. */
const DEVICES = /^libavdevice\.so/;
/**
 * Other unused dependencies: filters that are not named, network protocols, hardware, and SVG, which no container of
 * ours contains. Demuxers must stay: ffmpeg asks each of them when it identifies a file.
 */
const UNUSED = [
  'ass|bs2b|flite|flite_\\w+|fontconfig|freetype|fribidi|harfbuzz|lilv-0|mysofa',
  'placebo|pocketsphinx|rubberband|sphinxbase|tesseract|vidstab|zmq',
  'bluray|chromaprint|rabbitmq|rist|srt-gnutls|ssh|ssh-gcrypt',
  'drm|mfx|OpenCL|va|va-drm|va-x11|vdpau|vpl|vulkan|X11',
  'cairo|glib-2.0|gobject-2.0|rsvg-2',
];
const UNUSED_NAME = new RegExp(`^lib(${UNUSED.join('|')})(-[\\d.]+)?\\.so`);

/** Arguments that use what every call may use: devices, filters, encoders, and a file whose demuxer is not named. */
const TRIAL = [
  '-f lavfi -i testsrc=d=0.1 -f lavfi -i sine=d=0.1',
  '-vf scale=64:64,zscale=w=32:h=32,format=gbrpf32le,tonemap=hable,format=yuv420p',
  '-af aresample=async=1 -c:v libx264 -c:a aac -f mp4',
].flatMap((words) => words.split(' '));
const TRIAL_SECONDS = 30;
const START_BYTES = 1024;

let found: string | null | undefined;

/** Returns the variables with which ffmpeg and ffprobe load the copies; none where there are no current ones. */
export function ffmpegEnvironment(): Record<string, string> {
  found ??= ffmpegLibraries(ownCache());
  return found === null ? {} : { LD_LIBRARY_PATH: found };
}

/** Returns the folder of the copies; null when there are none, or when ffmpeg was installed again since. */
export function ffmpegLibraries(cache: string | null): string | null {
  if (cache === null) return null;
  const folder = join(cache, FOLDER);
  try {
    const made = JSON.parse(readFileSync(join(folder, SOURCES), 'utf8')) as Sources;
    return JSON.stringify(made) === JSON.stringify(describe(made.libraries)) ? folder : null;
  } catch {
    return null;
  }
}

/** Makes the copies in the folder of the compile cache, unless they are there and up to date. They are optional. */
export async function pruneFfmpegLibraries(run: RunCommand, cache: string): Promise<void> {
  if (ffmpegLibraries(cache) !== null) return;
  const folder = join(cache, FOLDER);
  const unfinished = `${folder}-${process.pid}`;
  const sources = sourcesOf(PROGRAM);
  if (sources.length === 0) return;
  try {
    mkdirSync(unfinished, { recursive: true });
    for (const path of sources) {
      const name = basename(path);
      const copy = withoutDependencies(readFileSync(path), (other) => isUnused(name, other));
      if (copy !== null) writeFileSync(join(unfinished, name), copy);
    }
    writeFileSync(join(unfinished, SOURCES), JSON.stringify(describe(sources.map((path) => ({ path })))));
    rmSync(folder, { recursive: true, force: true });
    if (await passesTrial(run, unfinished)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function isUnused(library: string, dependency: string): boolean {
  return DEVICES.test(library) ? !OWN.test(dependency) : UNUSED_NAME.test(dependency);
}

/** Returns paths of the libraries to be copied; none where the program or its libraries are elsewhere. */
function sourcesOf(program: string): string[] {
  const folder = SYSTEM_LIBRARIES[process.arch];
  if (folder === undefined || !existsSync(program)) return [];
  const names = dependenciesOf(readFileSync(program)).filter((name) => PRUNED.test(name));
  return names.map((name) => join(folder, name)).filter((path) => existsSync(path));
}

/** From what the copies were made. */
interface Sources {
  readonly unused: string;
  readonly libraries: readonly Library[];
}

interface Library {
  readonly path: string;
  readonly start: string;
}

/** Returns what identifies the present content of the libraries at these paths. */
function describe(libraries: readonly Pick<Library, 'path'>[]): Sources {
  const described = libraries.map(({ path }) => ({ path, start: startOf(path) }));
  return { unused: UNUSED_NAME.source, libraries: described };
}

/** Returns the first bytes, with the build ID. In a container the times of files are those of the image's build. */
function startOf(path: string): string {
  const bytes = Buffer.alloc(START_BYTES);
  const file = openSync(path, 'r');
  try {
    return bytes.toString('base64', 0, readSync(file, bytes, 0, START_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

/** Returns whether ffmpeg works with the copies in the folder: encodes, and opens the result. */
async function passesTrial(run: RunCommand, directory: string): Promise<boolean> {
  const output = join(directory, 'trial.mp4');
  const succeeds = async (file: string, args: readonly string[]): Promise<boolean> => {
    const env = { LD_LIBRARY_PATH: directory };
    const signal = new AbortController().signal;
    const command = { file, args: ['-v', 'error', ...args], directory, env, signal, timeoutSeconds: TRIAL_SECONDS };
    return (await run(command)).exitCode === 0;
  };
  const works = (await succeeds(PROGRAM, [...TRIAL, output])) && (await succeeds('ffprobe', [output]));
  rmSync(output, { force: true });
  return works;
}

/** Returns the folder of NODE_COMPILE_CACHE; null without one. Node's own has the version and the user in its name. */
function ownCache(): string | null {
  const used = getCompileCacheDir();
  return used === undefined ? null : dirname(used);
}
