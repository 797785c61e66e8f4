/** Real PDFs from published npm packages, fetched when a bench needs them and verified by their hash. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

interface PdfSample {
  readonly what: string;
  /** Name and version on npm. */
  readonly pack: string;
  readonly file: string;
  readonly sha256: string;
}

const SAMPLES: readonly PdfSample[] = [
  {
    what: 'paper, 14 pages, drawings',
    pack: 'pdf-parse@1.1.1',
    file: 'test/data/01-valid.pdf',
    sha256: '3662ff519e485810520552bf301d8c3b2b917fd2f83303f4965d7abed367e113',
  },
  {
    what: 'slides with photos',
    pack: 'pdf-parse@1.1.1',
    file: 'test/data/02-valid.pdf',
    sha256: 'a264c330e26f8c6434a9049bc5e7bfd0c55fd7b5f08491ba8af2b304f78810db',
  },
  {
    what: 'journal article',
    pack: 'pdf-parse@1.1.1',
    file: 'test/data/04-valid.pdf',
    sha256: 'd106f5ebb2daa6ec1f29d1a36fdfefb20fe01fe998591ab6eb10a8c068283ef3',
  },
  {
    what: 'word-processor page',
    pack: 'pdf-parse@1.1.1',
    file: 'test/data/05-versions-space.pdf',
    sha256: '9f4e6cf9e5420f52c0a51b497e36235d1ddf48ba1b978b26215df4f0c374c216',
  },
  {
    what: 'scan, grey, 2 pages',
    pack: 'pdf-extract@1.0.11',
    file: 'test/test_data/multipage_raw.pdf',
    sha256: '43fcb8c6af335a50fe9690171eac8a4c8b81a36bc7b80a24d3248c5bd3b0ca4e',
  },
  {
    what: 'scan, 1 page',
    pack: 'pdf-extract@1.0.11',
    file: 'test/test_data/single_page_raw.pdf',
    sha256: '3fd30882e31d150a0830c924d0901e2a0dffa09241a108e10d91e82825a44b72',
  },
  {
    what: 'tax form, tagged',
    pack: 'pdf2json@0.7.1',
    file: 'test/data/f1040.pdf',
    sha256: 'f1f92430c73094f90c3bef7bae2f8be8b5ef045f821d8177706466c5b66c2b3f',
  },
  {
    what: 'form',
    pack: 'fill-pdf@1.1.0',
    file: 'test/resources/test.pdf',
    sha256: 'c30c9db1cdffafc81e58b366aceb12e3585cf4b77182ccb086c409116fca399a',
  },
  {
    what: 'web page with a picture',
    pack: 'pdf-merger-js@5.1.2',
    file: 'test/fixtures/issue-42.pdf',
    sha256: '35d98a6c91016019e586888ec23fa829a79bc97115e6925e4e549b04e9d72c20',
  },
  {
    what: 'catalogue page',
    pack: 'pdf-merger-js@5.1.2',
    file: 'test/fixtures/issue-88.pdf',
    sha256: '084901f8eb6506a6ad1e9cb0907f49841faf0ff8baf854ee2c8b9c3555cad284',
  },
];

const run = promisify(execFile);

/** Fetches the samples into an empty folder. @throws Error when a file is not the one that was chosen. */
export async function fetchPdfSamples(folder: string): Promise<{ what: string; path: string }[]> {
  const packs = [...new Set(SAMPLES.map(({ pack }) => pack))];
  for (const pack of packs) {
    await mkdir(folderOf(folder, pack), { recursive: true });
    const { stdout } = await run('npm', ['pack', '--silent', pack], { cwd: folder });
    const archive = stdout.trim().split('\n').at(-1) ?? '';
    await run('tar', ['xzf', join(folder, archive), '-C', folderOf(folder, pack)]);
  }
  return Promise.all(
    SAMPLES.map(async ({ what, pack, file, sha256 }) => {
      const path = join(folderOf(folder, pack), 'package', file);
      const found = createHash('sha256')
        .update(await readFile(path))
        .digest('hex');
      if (found !== sha256) throw new Error(`${pack} ${file} has the hash ${found} instead of ${sha256}`);
      return { what, path };
    }),
  );
}

function folderOf(folder: string, pack: string): string {
  return join(folder, pack.replace('@', '-'));
}
