import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dependenciesOf } from '#worker-image/tools/elf-dependencies.ts';
import { ffmpegLibraries, pruneFfmpegLibraries } from '#worker-image/tools/ffmpeg-libraries.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';

let cache = '';
let folder = '';

beforeAll(async () => {
  cache = mkdtempSync(join(tmpdir(), 'ffmpeg-libraries-'));
  await pruneFfmpegLibraries(makeRunCommand(), cache);
  folder = ffmpegLibraries(cache) ?? 'missing';
});
afterAll(() => rmSync(cache, { recursive: true }));

/** Runs a program with or without the copies. Returns its standard output. */
function run(program: string, args: readonly string[], libraries: string | null): Buffer {
  const env = { PATH: '/usr/bin:/bin', ...(libraries === null ? {} : { LD_LIBRARY_PATH: libraries }) };
  const { status, stdout, stderr } = spawnSync(program, args, { env, maxBuffer: 64 * 1024 ** 2 });
  if (status !== 0) throw new Error(`${program} ended with ${String(status)}: ${stderr.toString()}`);
  return stdout;
}

describe('copies of ffmpeg libraries', () => {
  it('are loaded in the place of the originals, without the libraries of devices', () => {
    const [originals, copies] = [null, folder].map((libraries) =>
      run('ldd', ['/usr/bin/ffmpeg'], libraries).toString(),
    );
    expect(originals).toContain('libSDL2');
    expect(copies).not.toMatch(/libSDL2|libpulse|libvulkan|librsvg|libdrm/);
    expect(copies).toContain(`${folder}/libavcodec.so`);
    expect(copies).not.toContain('not found');
  });

  it('keep the encoders, the demuxers and the filter that converts HDR', () => {
    const copies = run('ldd', ['/usr/bin/ffmpeg'], folder).toString();
    for (const library of ['x264', 'x265', 'vpx', 'opus', 'mp3lame', 'zimg', 'openmpt'])
      expect(copies).toContain(`lib${library}.so`);
  });

  it.each([
    ['H.264 and AAC', ['-c:v', 'libx264', '-threads', '1', '-c:a', 'aac', '-f', 'matroska']],
    [
      'H.265 and Opus',
      ['-c:v', 'libx265', '-x265-params', 'pools=1:log-level=none', '-c:a', 'libopus', '-f', 'matroska'],
    ],
    ['VP9 and Vorbis', ['-c:v', 'libvpx-vp9', '-threads', '1', '-c:a', 'libvorbis', '-f', 'matroska']],
    ['MP3', ['-c:a', 'libmp3lame', '-f', 'mp3']],
  ])('encode the same %s as the originals', (_name, encoder) => {
    const sources = '-f lavfi -i testsrc=d=0.2 -f lavfi -i sine=d=0.2'.split(' ');
    const filters = ['-vf', 'zscale=w=64:h=64,format=gbrp,scale,format=yuv420p', '-af', 'aresample=async=1'];
    const args = ['-v', 'error', ...sources, ...filters, ...encoder, '-fflags', '+bitexact', 'pipe:1'];
    const [original, copy] = [null, folder].map((libraries) => run('/usr/bin/ffmpeg', args, libraries));
    expect(copy?.length).toBeGreaterThan(1000);
    expect(copy?.equals(original ?? Buffer.alloc(0))).toBe(true);
  });

  it('list the same decoders, demuxers and muxers as the originals', () => {
    for (const list of ['-decoders', '-demuxers', '-muxers', '-filters'])
      expect(run('/usr/bin/ffmpeg', ['-v', 'error', list], folder)).toEqual(
        run('/usr/bin/ffmpeg', ['-v', 'error', list], null),
      );
  });

  it('are not used, and are made again, when ffmpeg was installed again', async () => {
    const sources = join(folder, 'sources.json');
    const current = readFileSync(sources, 'utf8');
    const { unused, libraries } = JSON.parse(current) as { unused: string; libraries: { path: string }[] };
    const older = libraries.map(({ path }) => ({ path, start: 'of another build' }));
    writeFileSync(sources, JSON.stringify({ unused, libraries: older }));
    expect(ffmpegLibraries(cache)).toBeNull();
    await pruneFfmpegLibraries(makeRunCommand(), cache);
    expect(ffmpegLibraries(cache)).toBe(folder);
    expect(readFileSync(sources, 'utf8')).toBe(current);
    expect(readdirSync(cache)).toEqual(['ffmpeg-libraries']);
  });

  it('are missing without a folder of the compile cache', () => {
    expect(ffmpegLibraries(null)).toBeNull();
    expect(ffmpegLibraries(tmpdir())).toBeNull();
  });
});

describe('dependenciesOf', () => {
  it('returns the needed libraries of a program, and refuses other files', () => {
    expect(dependenciesOf(readFileSync('/usr/bin/ffmpeg')).join(' ')).toMatch(/libavcodec\.so\.\d+ .*libc\.so\.6/);
    expect(() => dependenciesOf(readFileSync(import.meta.filename))).toThrow('no ELF file of 64 bits');
  });
});
