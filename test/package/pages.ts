import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { anchorOf } from '../../site/pages.ts';

/** Without code, in which brackets mean something else. */
const prose = (path: string): string => readFileSync(path, 'utf8').replace(/^ *```.*?^ *```$/gms, '');

/** The links of the pages among these files, in `folder`, that lead to no file of these, or to no heading there. */
export function deadLinks(folder: string, files: readonly string[]): string[] {
  const leads = (path: string, anchor: string | undefined): boolean =>
    files.includes(path) &&
    (anchor === undefined ||
      [...prose(join(folder, path)).matchAll(/^#+ (.+)$/gm)].some(([, heading]) => anchorOf(heading!) === anchor));
  return files
    .filter((path) => path.endsWith('.md'))
    .flatMap((page) =>
      [...prose(join(folder, page)).matchAll(/\]\(([^)\s]+)|(?:src|href)="([^"]+)/g)]
        .map(([, link, tagged]) => link ?? tagged!)
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => {
          const [path = '', anchor] = link.split('#');
          return !leads(path === '' ? page : posix.join(posix.dirname(page), path), anchor);
        })
        .map((link) => `${page} leads to ${link}`),
    );
}
