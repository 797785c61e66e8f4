/** Problem that the operator can fix and that keeps the service from starting. Only the message is shown. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
