/** Entries of a menu: path below the account or the operator's pages, and label. */
type Menu = readonly (readonly [below: string, label: string])[];

export const ACCOUNT_MENU: Menu = [
  ['', 'Quick start'],
  ['/keys', 'API keys'],
  ['/jobs', 'Jobs'],
  ['/uploads', 'Uploads'],
  ['/usage', 'Usage'],
  ['/plan', 'Plan and spend cap'],
  ['/presets', 'Presets'],
  ['/webhooks', 'Webhooks'],
  ['/samples', 'Test samples'],
  ['/members', 'Members'],
  ['/activity', 'Activity'],
];

export const OPERATOR_MENU: Menu = [
  ['', 'Accounts'],
  ['/queue', 'Queue and capacity'],
  ['/failures', 'Failures'],
  ['/deliveries', 'Dead deliveries'],
  ['/engines', 'Engine versions'],
  ['/prices', 'Price book'],
  ['/activity', 'Activity'],
];
