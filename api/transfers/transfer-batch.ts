/** Ended transfers that are looked at in one go. */
export const TRANSFER_BATCH = 100;
