/** Tools that the engine starts, with their Debian packages. Checks and install scripts read this list. */

export const DEBIAN_PACKAGES = {
  ffmpeg: 'ffmpeg',
  ffprobe: 'ffmpeg',
  soffice:
    'libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui libreoffice-math-nogui python3-uno',
  qpdf: 'qpdf',
  pdftoppm: 'poppler-utils',
  pdfinfo: 'poppler-utils',
  vips: 'libvips-tools',
  gifsicle: 'gifsicle',
  'heif-enc': 'libheif-examples',
  dcraw_emu: 'libraw-bin',
  'raw-identify': 'libraw-bin',
  woff2_compress: 'woff2',
  woff2_decompress: 'woff2',
  python3: 'python3',
  prlimit: 'util-linux',
  setpriv: 'util-linux',
  unshare: 'util-linux',
} as const satisfies Record<string, string>;

export type Tool = keyof typeof DEBIAN_PACKAGES;

export const TOOLS = Object.keys(DEBIAN_PACKAGES) as Tool[];

/** Returns the packages of a tool, separated by spaces; null for a tool that is not in the list. */
export function packagesOf(tool: string): string | null {
  return Object.hasOwn(DEBIAN_PACKAGES, tool) ? DEBIAN_PACKAGES[tool as Tool] : null;
}
