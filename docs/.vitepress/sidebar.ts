/** Pages of the documentation in reading order. The build fails for a page that is missing here. */
export interface Section {
  readonly text: string;
  readonly items: readonly Page[];
}

interface Page {
  readonly text: string;
  readonly link: string;
  /** Whether the reader starts a service there, whose address its examples keep. */
  readonly startsService?: true;
}

export const SIDEBAR: readonly Section[] = [
  {
    text: 'Start',
    items: [
      { text: 'First job', link: '/' },
      { text: 'Dashboard', link: '/dashboard' },
    ],
  },
  {
    text: 'Guides',
    items: [
      { text: 'Large files', link: '/guides/large-files' },
      { text: 'Webhooks on a laptop', link: '/guides/webhooks-on-a-laptop', startsService: true },
      { text: 'Choosing quality', link: '/guides/choosing-quality' },
      { text: 'Moving from another service', link: '/guides/moving' },
    ],
  },
  {
    text: 'Reference',
    items: [
      { text: 'Basics', link: '/reference/basics' },
      { text: 'Direct requests', link: '/reference/direct' },
      { text: 'Uploads', link: '/reference/uploads' },
      { text: 'Jobs', link: '/reference/jobs' },
      { text: 'Options', link: '/reference/options' },
      { text: 'Presets', link: '/reference/presets' },
      { text: 'Webhooks', link: '/reference/webhooks' },
      { text: 'Formats', link: '/reference/formats' },
      { text: 'Estimate and usage', link: '/reference/estimate-and-usage' },
      { text: 'Limits and prices', link: '/reference/limits-and-prices' },
      { text: 'Receipts', link: '/reference/receipts' },
      { text: 'Errors', link: '/reference/errors' },
      { text: 'Quality scale', link: '/reference/standard-v1' },
    ],
  },
  {
    text: 'Endpoints',
    items: [
      { text: 'All endpoints', link: '/reference/endpoints' },
      { text: 'Direct endpoints', link: '/reference/endpoints/direct' },
      { text: 'Upload endpoints', link: '/reference/endpoints/uploads' },
      { text: 'Job endpoints', link: '/reference/endpoints/jobs' },
      { text: 'Webhook endpoints', link: '/reference/endpoints/webhooks' },
      { text: 'Preset endpoints', link: '/reference/endpoints/presets' },
      { text: 'Estimate and usage endpoints', link: '/reference/endpoints/billing' },
      { text: 'Service endpoints', link: '/reference/endpoints/service' },
    ],
  },
  {
    text: 'Operate',
    items: [
      { text: 'One machine', link: '/one-machine' },
      { text: 'Settings', link: '/settings' },
      { text: 'Operations', link: '/operations' },
      { text: 'Kubernetes', link: '/kubernetes' },
      { text: 'Security', link: '/security' },
      { text: 'Versions', link: '/versions' },
      { text: 'Images and releases', link: '/release' },
      { text: 'Licences', link: '/licences' },
      { text: 'Benchmarks', link: '/benchmarks' },
    ],
  },
];
