/** PostgreSQL notification channel for changes of jobs, transfers and deliveries. A notification may be lost. */
export const CHANGES_CHANNEL = 'mediajobs';
