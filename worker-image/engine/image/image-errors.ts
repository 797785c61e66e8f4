import { MediaError } from '#crds/contract/media-error.ts';

/**
 * Runs an operation of sharp and refuses the file for an error that it throws.
 * @throws MediaError processing_failed. An invalid parameter ("Expected …") is a bug and thrown as it is.
 */
export async function withImageErrors<T>(doing: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof MediaError || !(error instanceof Error) || error.message.startsWith('Expected ')) throw error;
    throw new MediaError('processing_failed', messageOf(doing, error.message), { cause: error });
  }
}

function messageOf(doing: string, message: string): string {
  if (message.startsWith('Processed image is too large')) {
    return `${doing} failed: a side of the image is longer than the format allows. Choose another format or a smaller size.`;
  }
  return `${doing} failed: the file is damaged, not complete, or uses a feature that is not supported. Check that it opens in a viewer and send it again.`;
}
