/** Who may import whom in the engine: rules of `.dependency-cruiser.js`. */
import type { IForbiddenRuleType } from 'dependency-cruiser';

export const ENGINE_RULES: IForbiddenRuleType[] = [
  {
    name: 'engine-knows-no-process',
    comment: 'The engine processes one file: it knows neither the sandbox around it nor how files arrive and leave.',
    severity: 'error',
    from: { path: '^worker-image/engine/', pathNot: '\\.test\\.ts$' },
    to: { path: '^worker-image/', pathNot: '^worker-image/(engine|tools)/' },
  },
  {
    name: 'containers-know-no-kind',
    comment: 'The readers of containers serve every kind: they know neither kinds nor the pipeline.',
    severity: 'error',
    from: { path: '^worker-image/engine/containers/', pathNot: '\\.test\\.ts$' },
    to: { path: '^worker-image/', pathNot: '^worker-image/engine/containers/' },
  },
  {
    name: 'kinds-know-no-other-kind',
    comment:
      'A kind imports containers and the contract of the handlers; what two kinds share belongs into containers. ' +
      'PDF alone opens images, for it renders pages to them. Identification knows no kind.',
    severity: 'error',
    from: {
      path: '^worker-image/engine/(identify|font|image|media|office|pdf|table)',
      pathNot: '^worker-image/engine/pdf/(convert|verify)-pdf\\.ts$|\\.test\\.ts$',
    },
    to: {
      path: '^worker-image/engine/(identify|font|image|media|office|pdf|table)',
      pathNot: '^worker-image/engine/$1',
    },
  },
  {
    name: 'only-open-picture-knows-the-loaders',
    comment: 'How a format of images is read stays in its loader: everybody else works on the picture that it returns.',
    severity: 'error',
    from: { path: '^worker-image/', pathNot: '^worker-image/engine/image/loaders/|\\.test\\.ts$' },
    to: {
      path: '^worker-image/engine/image/loaders/',
      pathNot: '^worker-image/engine/image/loaders/open-picture\\.ts$',
    },
  },
];
