/** A report as PDF; a letter, a budget and slides in every office format; a list of people as every table; a typeface. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Format } from '#crds/catalogue/formats.ts';
import { readSfnt } from '#worker-image/engine/font/sfnt.ts';
import { writeWoff } from '#worker-image/engine/font/woff.ts';
import { budgetDocument, letterDocument, reportDocument, slidesDocument, type EmbeddedImage } from './documents.ts';
import { landscape } from './landscape.ts';
import { people, peopleTable } from './people.ts';
import { sample, type Recipe } from './recipe.ts';
import { office, runTool } from './tools.ts';
import { openTypeface, typeface } from './typeface.ts';

interface Source {
  /** Flat OpenDocument text. */
  readonly format: Format;
  readonly write: (directory: string) => Promise<void>;
  /** Formats in which LibreOffice saves it, each with its filter. */
  readonly saved: readonly (readonly [Format, string])[];
}

const SOURCES: Readonly<Record<'letter' | 'budget' | 'slides', Source>> = {
  letter: {
    format: 'fodt',
    write: letter,
    saved: [
      ['docx', 'MS Word 2007 XML'],
      ['docm', 'MS Word 2007 XML VBA'],
      ['doc', 'MS Word 97'],
      ['odt', 'writer8'],
      ['rtf', 'Rich Text Format'],
      ['txt', 'Text (encoded):UTF8'],
    ],
  },
  budget: {
    format: 'fods',
    write: (at) => writeFile(join(at, 'budget.fods'), budgetDocument()),
    saved: [
      ['xlsx', 'Calc MS Excel 2007 XML'],
      ['xlsm', 'Calc MS Excel 2007 VBA XML'],
      ['xls', 'MS Excel 97'],
      ['ods', 'calc8'],
    ],
  },
  slides: {
    format: 'fodp',
    write: slides,
    saved: [
      ['pptx', 'Impress MS PowerPoint 2007 XML'],
      ['pptm', 'Impress MS PowerPoint 2007 XML VBA'],
      ['ppt', 'MS PowerPoint 97'],
      ['odp', 'impress8'],
    ],
  },
};

export const DOCUMENT_SAMPLES: readonly Recipe[] = [
  sample('report.pdf', 'pdf', report),
  ...everyFormatOf('letter'),
  ...everyFormatOf('budget'),
  ...everyFormatOf('slides'),
];

export const TABLE_SAMPLES: readonly Recipe[] = [
  sample('people.csv', 'csv', (at) => writeFile(join(at, 'people.csv'), people(400, 12))),
  ...(['tsv', 'json', 'ndjson', 'html', 'md'] as const).map((format) =>
    sample(`people.${format}`, format, (at) => writeFile(join(at, `people.${format}`), peopleTable(format, 60, 12))),
  ),
];

export const FONT_SAMPLES: readonly Recipe[] = [
  sample('typeface.ttf', 'ttf', (at) => writeFile(join(at, 'typeface.ttf'), typeface())),
  sample('typeface.otf', 'otf', (at) => writeFile(join(at, 'typeface.otf'), openTypeface())),
  sample('typeface.woff', 'woff', (at) => writeFile(join(at, 'typeface.woff'), writeWoff(readSfnt(typeface())))),
  sample('typeface.woff2', 'woff2', (at) => runTool(at, 'woff2_compress', ['typeface.ttf'])),
];

function everyFormatOf(name: keyof typeof SOURCES): Recipe[] {
  const { format: source, write, saved } = SOURCES[name];
  const recipes = saved.map(([format, filter]) =>
    sample(`${name}.${format}`, format, async (at) => {
      await write(at);
      await office(at, `${name}.${source}`, `${format}:${filter}`);
    }),
  );
  return [...recipes, sample(`${name}.${source}`, source, write)];
}

async function report(directory: string): Promise<void> {
  const pictures = await picturesOf({ width: 1200, height: 800, seeds: [5, 8, 11, 14], widthCm: 8 });
  await writeFile(join(directory, 'report.fodt'), reportDocument(pictures));
  const options = JSON.stringify({
    ReduceImageResolution: { type: 'boolean', value: 'false' },
    UseLosslessCompression: { type: 'boolean', value: 'false' },
    Quality: { type: 'long', value: '95' },
  });
  await office(directory, 'report.fodt', `pdf:writer_pdf_Export:${options}`);
  await rename(join(directory, 'report.pdf'), join(directory, 'exported.pdf'));
  // LibreOffice lists the images of all pages in every page; most programs do not.
  const ownPictures = ['--remove-unreferenced-resources=yes', 'exported.pdf', '--pages', '.', '1-z', '--'];
  await runTool(directory, 'qpdf', [...ownPictures, 'report.pdf']);
}

async function letter(directory: string): Promise<void> {
  const [picture] = await picturesOf({ width: 900, height: 300, seeds: [21], widthCm: 9 });
  if (picture === undefined) throw new Error('no picture was made');
  await writeFile(join(directory, 'letter.fodt'), letterDocument(picture));
}

async function slides(directory: string): Promise<void> {
  const pictures = await picturesOf({ width: 600, height: 400, seeds: [31, 32, 33], widthCm: 12 });
  await writeFile(join(directory, 'slides.fodp'), slidesDocument(pictures));
}

interface PictureSet {
  readonly width: number;
  readonly height: number;
  readonly seeds: readonly number[];
  readonly widthCm: number;
}

async function picturesOf({ width, height, seeds, widthCm }: PictureSet): Promise<EmbeddedImage[]> {
  const heightCm = (widthCm * height) / width;
  const make = async (seed: number): Promise<EmbeddedImage> => {
    const jpeg = await landscape({ width, height, seed }).jpeg({ quality: 92 }).toBuffer();
    return { jpeg, widthCm, heightCm };
  };
  return Promise.all(seeds.map(make));
}
