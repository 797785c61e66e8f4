/** A failure that the user of mediactl can fix. Only its message is printed. */
export class CommandLineError extends Error {
  override readonly name = 'CommandLineError';
}
