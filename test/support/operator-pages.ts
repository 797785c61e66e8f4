/** Addresses of the operators' pages, below `/operator`. */
export const OPERATOR_PAGES = [
  '',
  '/accounts',
  '/jobs',
  '/queue',
  '/failures',
  '/deliveries',
  '/engines',
  '/prices',
  '/activity',
] as const;
