import { S3ServiceException } from '@aws-sdk/client-s3';

/** Returns the response of an S3 command; null when the object or upload does not exist (404). */
export async function nullIfNotFound<Output>(response: Promise<Output>): Promise<Output | null> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404) return null;
    throw error;
  }
}
