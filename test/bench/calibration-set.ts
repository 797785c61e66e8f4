/**
 * The pictures that image quality is calibrated and compared on: photos and drawn graphics out of Debian packages,
 * fetched when a bench asks for them and checked by their hash. Photos are made smaller, so that what is
 * measured is the encoder and not the camera's own JPEG; of each picture the middle is taken.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp, { type Region } from 'sharp';

export interface BenchPicture {
  readonly name: string;
  readonly kind: PictureKind;
  /** An RGB PNG without profile. */
  readonly path: string;
  readonly pixels: number;
}

export type PictureKind = 'photo' | 'graphic';

interface PackageRow {
  readonly kind: PictureKind;
  readonly folder: string;
  /** SHA-256 by path below the folder. */
  readonly files: Readonly<Record<string, string>>;
}

const PACKAGES: Readonly<Record<string, PackageRow>> = {
  'lomiri-wallpapers-16.04': {
    kind: 'photo',
    folder: 'usr/share/backgrounds',
    files: {
      'Bridge_by_Sander_Klootwijk.jpg': 'bd86b081f9975e2b83527f71e49b9271a8ab40885428395969d9f7d834d7f050',
      'Dragonfly_by_Bolly.jpg': 'af5af17841009732def24b09bb1e669a1b09d2b4bdeee7812c371101c30d2bb3',
      'Picture_0B_by_freespace.jpg': 'c8c0ab18e48d9e0419fe42881112137f3afafc27dfddc29ec3a6d54c56d225ad',
      'Picture_1A_by_freespace.jpg': '89e86af38d04daaef975665dc2127e9fa76f0fd68f4eea105a2d0ae3390b010b',
      'Wine_by_Jakkub_Mede.jpg': 'd2e96e6d4da40dd804b3d0ce295e94de04a2d7d9b6785d42cd9d92ba58bced74',
      'aitzgorri_by_Aitzol_Berasategi.jpg': '66268e7b48f8854d36a28765fac6e23ec1aee251daa6da1f64715f201020ad36',
      'friends_by_Aitzol_Berasategi.jpg': 'cc40e313c74e421edffe3403def413c16878ce14661cce7ec5915baeab35538d',
      'life_by_Aitzol_Berasategi.jpg': '4c119350ead80201fe256850c3d316309ddfb4bdf10b235ce982dcde0c667c05',
      'picosdeeuropa_by_Aitzol_Berasategi.jpg': '414d0072b2f6f2c555deafeaef6e45c4fed6fa9ad26eba6560ca8803959cf97a',
      'seeding_by_Clements_Engelhardt.jpg': 'a5634d1ab5e41a3568e92d4a894a500c92b891f9ff734e50bd224d6e185a605f',
      'sunset_by_Aitzol_Berasategi.jpg': '474dab6a4b9f94dc76c29dfe30e9f5db4af0fd2e33fe5d695f8152b371efca18',
    },
  },
  'mate-backgrounds': {
    kind: 'photo',
    folder: 'usr/share/backgrounds/mate/nature',
    files: {
      'Dune.jpg': '8a67c2cb0be8c46b70c237311a4fa4d2b4ac7d39568135384787801fa5cc9a91',
      'FreshFlower.jpg': '972b0a0c4e5e3fa93f4f244fc84bc64b121a5eac3aaa5856f1308c1f38a02f8e',
      'GreenMeadow.jpg': '8fa0de0aa4089f7319c9fb7a6d006d4cab6023e8c8853731557cff53567b4832',
      'LadyBird.jpg': 'e35a9a4126ef969c90b29c038058c5a575a20eadd84106a37bf1fa9931e7b61d',
      'RainDrops.jpg': '3e4ea9671c28c90a86cf67b3db9daf18c4741587c596333a7529ca589aaa0c16',
      'Storm.jpg': '77ca53077831d3237f73393a91fc879158abc046d852941c26e90de336356957',
      'TwoWings.jpg': '665e5abf8a5399070a91a9a8e455fe071e5b61697ff78fdeda4e9843ef545aeb',
      'YellowFlower.jpg': '254da96256acb7add685679775a04d1e4a5bc8cd13e5a5a3d61351ce198a5306',
    },
  },
  'kicad-doc-en': {
    kind: 'graphic',
    folder: 'usr/share/doc/kicad/help/en/images',
    files: {
      'zone_properties.png': '38227ca390d5addb6f2a7f675db04d91c4ded3b99e4aa8147c35e8a677459001',
      'pcbnew_user_interface.png': 'ecde9718d5a7e0bca4f100c8be0a892baf9fea3dcb81bba10c62ca15b4562f1a',
      'gerbview_main_screen.png': '407be563967785c6ec0ccc0d03f4295bb168511ba26a92983d7bb28c746f5a9a',
      'libedit_main_window.png': 'fb054abe769599ea3c66aef9380108c61ebed391b2597e3909fdeb385ac1d027',
      'coldfire-layout.png': 'ebf0b92278210d4745107bd790f9a9db4767d9ce92eb8f3ffce480ea798df670',
      'board-setup-stackup.png': '331f1ca050065bd11926652ac148af595f028b114cf46bb7a39dbcd22e58166b',
      'en/cvpcb_main_window.png': '52d1b8345073f5f59dbc9bf69f2b9fa7963fc2416968e1f1f62d63e894594a25',
      'en/commands_overview.png': '154fd4e012032664fe01df5f2472a55e8abc9c11487b6fcf39e7522d8072a28b',
      'en/component_during_placement.png': 'b3c1b30e647fb1355b33095f917d4b4980f34bf511404f1c72a6a96d21de5b4e',
    },
  },
  'gnome-user-docs': {
    kind: 'graphic',
    folder: 'usr/share/help/C/gnome-help/figures',
    files: {
      'shell-appts.png': '947238d5c4f43cf3fd0a5776e19093c69e83ca6be5afae9bf709a7392d3917de',
    },
  },
};

/** Photos are brought to this longest side, near to what most callers ask for, */
const PHOTO_SIDE = 1600;
/** Side of the region in the middle of each image, in pixels. */
const CROP = { width: 768, height: 512 } as const;

const run = promisify(execFile);

/**
 * Returns the set in the cache folder; missing packages are downloaded with apt-get, not installed.
 * @throws Error when a package holds another file than the set was made with.
 */
export async function calibrationSet(cache: string): Promise<BenchPicture[]> {
  const pictures = join(cache, 'pictures');
  await mkdir(pictures, { recursive: true });
  const made: BenchPicture[] = [];
  for (const [name, row] of Object.entries(PACKAGES)) {
    for (const [file, sha256] of Object.entries(row.files)) {
      const source = await sourceOf(cache, { name, path: join(row.folder, file), sha256 });
      const plain = file.replace(/^.*\//, '').replace(/\.\w+$/, '');
      made.push(await prepare(source, { name: plain, kind: row.kind, path: join(pictures, `${plain}.png`) }));
    }
  }
  return made;
}

/** Returns an original camera photo of 4272 × 2848 pixels. */
export function largePhoto(cache: string): Promise<Buffer> {
  return wholePicture(cache, 'sunset_by_Aitzol_Berasategi.jpg');
}

/** Returns an image of the set as in its package. @throws Error when the set has none of that name. */
export async function wholePicture(cache: string, file: string): Promise<Buffer> {
  const found = Object.entries(PACKAGES).find(([, { files }]) => Object.hasOwn(files, file));
  if (found === undefined) throw new Error(`the set has no ${file}`);
  const [name, { folder, files }] = found;
  return sourceOf(cache, { name, path: join(folder, file), sha256: files[file] ?? '' });
}

async function sourceOf(cache: string, file: { name: string; path: string; sha256: string }): Promise<Buffer> {
  const unpacked = join(cache, 'packages', file.name);
  const path = join(unpacked, file.path);
  if (!(await exists(path))) await fetchPackage(file.name, unpacked);
  const bytes = await readFile(path);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== file.sha256)
    throw new Error(
      `${path} has SHA-256 ${found}; the set was made with ${file.sha256}. Take ${file.name} of Debian 12.`,
    );
  return bytes;
}

async function fetchPackage(name: string, unpacked: string): Promise<void> {
  await mkdir(unpacked, { recursive: true });
  await run('sh', ['-c', `apt-get download ${name} && dpkg-deb -x ${name}_*.deb . && rm ${name}_*.deb`], {
    cwd: unpacked,
  });
}

async function prepare(source: Buffer, picture: Omit<BenchPicture, 'pixels'>): Promise<BenchPicture> {
  if (!(await exists(picture.path))) {
    const opaque = sharp(source).flatten({ background: '#ffffff' }).toColourspace('srgb');
    const side = { width: PHOTO_SIDE, height: PHOTO_SIDE, fit: 'inside', withoutEnlargement: true } as const;
    const whole = await (picture.kind === 'photo' ? opaque.resize(side) : opaque).png().toBuffer();
    await sharp(whole)
      .extract(await middleOf(whole))
      .toFile(picture.path);
  }
  const { width, height } = await sharp(picture.path).metadata();
  return { ...picture, pixels: width * height };
}

async function middleOf(picture: Buffer): Promise<Region> {
  const size = await sharp(picture).metadata();
  const width = Math.min(size.width, CROP.width);
  const height = Math.min(size.height, CROP.height);
  return { left: (size.width - width) >> 1, top: (size.height - height) >> 1, width, height };
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
