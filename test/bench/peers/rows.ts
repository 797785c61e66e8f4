/** All rows of the bench, in the order of the page. */
import type { Row } from './row.ts';
import { directImages } from './rows/direct-images.ts';
import { growth } from './rows/growth.ts';
import { imageBytes } from './rows/image-bytes.ts';
import { jobs } from './rows/jobs.ts';
import { media } from './rows/media.ts';
import { office } from './rows/office.ts';
import { pdf } from './rows/pdf.ts';
import { sizing } from './rows/sizing.ts';
import { tables } from './rows/tables.ts';

export const ROWS: Readonly<Record<string, Row>> = {
  images: directImages,
  'image-bytes': imageBytes,
  office,
  pdf,
  media,
  tables,
  jobs,
  sizing,
  growth,
};
