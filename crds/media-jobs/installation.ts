import { LABELS } from '#crds/contract/names.ts';

/** One installation of the service; a namespace may have several. */
export interface Installation {
  readonly namespace: string;
  /** Value of the label `app.kubernetes.io/instance`. */
  readonly instance: string;
}

/** Returns the label selector of the objects of an installation. */
export function instanceSelector({ instance }: Pick<Installation, 'instance'>): string {
  return `${LABELS.instance}=${instance}`;
}
