/** Address of the built documentation site, which the service replaces by the one at which it serves the site. */
export const SITE_BASE = '/mediajobs-documentation-root/';
/** Name in the built documentation site, which the service replaces by that of the installation. */
export const SITE_NAME = 'mediajobs-installation-name';
/** Description of the pages for search engines. */
export const DESCRIPTION =
  'An HTTPS JSON API that compresses, converts and strips metadata from images, PDFs, video, audio, office documents, tables and fonts.';
