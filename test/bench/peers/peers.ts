/** Who is measured beside the service, and where each comes from. One row per peer; `prepare-peers.ts` installs them. */

export interface Peer {
  /**
   * `pypi` and `npm` packages are installed at the pinned version into a folder of their own; `debian` packages come
   * with the system's version; `binary` is not to be had from a package registry and is named by a variable.
   */
  readonly source: 'pypi' | 'npm' | 'debian' | 'binary' | 'own';
  /**
   * Package names, with the version where it is pinned. For a binary the variable that names it, and one with its version
   * if it has no command that says it.
   */
  readonly packages: readonly string[];
}

export const PEERS = {
  thumbor: { source: 'pypi', packages: ['thumbor==7.8.0'] },
  ipx: { source: 'npm', packages: ['ipx@3.1.1'] },
  // Of the project's own dependencies.
  'fastify + sharp': { source: 'own', packages: ['fastify', 'sharp'] },
  imgproxy: { source: 'binary', packages: ['IMGPROXY_BIN'] },
  ImageMagick: { source: 'debian', packages: ['imagemagick'] },
  cwebp: { source: 'debian', packages: ['webp'] },
  avifenc: { source: 'debian', packages: ['libavif-bin'] },
  jpegoptim: { source: 'debian', packages: ['jpegoptim'] },
  pngquant: { source: 'debian', packages: ['pngquant'] },
  soffice: { source: 'debian', packages: ['libreoffice-core-nogui'] },
  // It loads Debian's bridge to LibreOffice, so its folder sees the system's Python packages.
  unoserver: { source: 'pypi', packages: ['unoserver==3.7'] },
  'libreoffice-convert': { source: 'npm', packages: ['libreoffice-convert@1.8.2'] },
  Gotenberg: { source: 'binary', packages: ['GOTENBERG_BIN', 'GOTENBERG_VERSION'] },
  Ghostscript: { source: 'debian', packages: ['ghostscript'] },
  qpdf: { source: 'debian', packages: ['qpdf'] },
  pikepdf: { source: 'pypi', packages: ['pikepdf==10.17.0'] },
  OCRmyPDF: { source: 'pypi', packages: ['ocrmypdf==17.13.0'] },
  ffmpeg: { source: 'debian', packages: ['ffmpeg'] },
  HandBrakeCLI: { source: 'debian', packages: ['handbrake-cli'] },
  BullMQ: { source: 'npm', packages: ['bullmq@6.7.0', 'ioredis@5.11.1'] },
  pandas: { source: 'pypi', packages: ['pandas==3.1.1', 'openpyxl==3.1.5'] },
  SheetJS: { source: 'npm', packages: ['xlsx@0.18.5'] },
} as const satisfies Readonly<Record<string, Peer>>;

export type PeerName = keyof typeof PEERS;

/** Debian packages that a peer needs besides. */
export const BESIDES: Partial<Record<PeerName, readonly string[]>> = {
  unoserver: ['python3-uno'],
  // It requires them even when it recognizes no text.
  OCRmyPDF: ['tesseract-ocr', 'pngquant'],
};
