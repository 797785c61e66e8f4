import { MediaError } from '#crds/media-error.ts';

/**
 * Runs one step of image work; what the library throws about the file becomes a refusal.
 * @throws MediaError processing_failed. A wrong parameter of ours ("Expected …") stays a bug.
 */
export async function imageStep<T>(doing: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof MediaError || !(error instanceof Error) || error.message.startsWith('Expected ')) throw error;
    throw new MediaError('processing_failed', messageOf(doing, error.message), { cause: error });
  }
}

function messageOf(doing: string, message: string): string {
  if (message.startsWith('Processed image is too large')) {
    return `${doing} failed: a side of the picture is longer than the format allows. Choose another format or a smaller size.`;
  }
  return `${doing} failed: the file is damaged, not complete, or uses a feature that is not supported. Check that it opens in a viewer and send it again.`;
}
