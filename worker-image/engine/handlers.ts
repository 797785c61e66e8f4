import type { Kind } from '#crds/catalogue/formats.ts';
import type { KindHandler } from '#worker-image/engine/handler.ts';

/** Loaders of the handlers. Each is called with the first file of its kind: a font never loads the image library. */
const HANDLERS: Readonly<Record<Kind, () => Promise<KindHandler>>> = {
  image: async () => (await import('#worker-image/engine/image/image-handler.ts')).imageHandler,
  pdf: async () => (await import('#worker-image/engine/pdf/pdf-handler.ts')).pdfHandler,
  video: async () => (await import('#worker-image/engine/media/video-handler.ts')).videoHandler,
  audio: async () => (await import('#worker-image/engine/media/audio-handler.ts')).audioHandler,
  word: async () => (await import('#worker-image/engine/office/office-handler.ts')).wordHandler,
  sheet: async () => (await import('#worker-image/engine/office/office-handler.ts')).sheetHandler,
  presentation: async () => (await import('#worker-image/engine/office/office-handler.ts')).presentationHandler,
  table: async () => (await import('#worker-image/engine/table/table-handler.ts')).tableHandler,
  font: async () => (await import('#worker-image/engine/font/font-handler.ts')).fontHandler,
};

/** Loads the handler of a kind. */
export function loadHandler(kind: Kind): Promise<KindHandler> {
  return HANDLERS[kind]();
}

/** npm packages that process a kind, besides the tools that its handler starts; their versions go into the report. */
export const LIBRARIES: Readonly<Partial<Record<Kind, readonly string[]>>> = { image: ['sharp'] };
