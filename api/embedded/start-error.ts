/** The service cannot start for a reason that its operator can remove. The message is all that is shown. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
