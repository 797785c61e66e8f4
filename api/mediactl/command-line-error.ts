/** mediactl cannot go on for a reason that its user can remove. The message is all that is shown. */
export class CommandLineError extends Error {
  override readonly name = 'CommandLineError';
}
