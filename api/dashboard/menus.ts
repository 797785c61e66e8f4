import type { IconName } from '#api/dashboard/icons.ts';

/** Entries of a menu: path below the account or the operator's pages, label and icon. */
type Menu = readonly (readonly [below: string, label: string, icon: IconName])[];

const ACCOUNT_MENU: Menu = [
  ['', 'Overview', 'home'],
  ['/quick-start', 'Quick start', 'start'],
  ['/playground', 'Playground', 'playground'],
  ['/jobs', 'Jobs', 'jobs'],
  ['/uploads', 'Uploads', 'upload'],
  ['/keys', 'API keys', 'key'],
  ['/webhooks', 'Webhooks', 'webhooks'],
  ['/presets', 'Presets', 'presets'],
  ['/samples', 'Test samples', 'samples'],
  ['/usage', 'Usage', 'usage'],
  ['/plan', 'Plan and spend cap', 'plan'],
  ['/members', 'Members', 'members'],
  ['/activity', 'Activity', 'activity'],
];

const OPERATOR_MENU: Menu = [
  ['', 'Overview', 'home'],
  ['/accounts', 'Accounts', 'accounts'],
  ['/jobs', 'Jobs', 'jobs'],
  ['/queue', 'Queue and capacity', 'queue'],
  ['/failures', 'Failures', 'bad'],
  ['/deliveries', 'Dropped deliveries', 'webhooks'],
  ['/engines', 'Engine versions', 'engines'],
  ['/prices', 'Price book', 'prices'],
  ['/activity', 'Activity', 'activity'],
];

/** Returns the menu of the operator's pages or of an account; without prices where they are hidden. */
export function menuOf({ isOperator, hidesPrices }: { isOperator: boolean; hidesPrices: boolean }): Menu {
  const menu = isOperator ? OPERATOR_MENU : ACCOUNT_MENU;
  if (!hidesPrices) return menu;
  return menu.flatMap(([below, label, icon]): Menu => {
    if (below === '/prices') return [];
    return [[below, below === '/plan' ? 'Limits' : label, icon]];
  });
}

/** Entries of the menu under which pages without an entry of their own are, by the first part of their path. */
export const PARENTS: Readonly<Record<string, string>> = { '/deliveries': '/webhooks', '/receipts': '/jobs' };
