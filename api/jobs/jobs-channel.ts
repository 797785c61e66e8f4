/** PostgreSQL channel on which our processes tell each other that jobs, transfers or deliveries changed; a hint only. */
export const JOBS_CHANNEL = 'mediajobs';
