/** The list of a ZIP file's entries, and the text of one of them. */
import { openPromise, type Entry, type ZipFile } from 'yauzl';
