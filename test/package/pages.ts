import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** What pages of the package may lead to without its being in it: `docs/README.md` says that these are in the repository. */
const IN_REPOSITORY =
  /^(src\/|test\/|docs\/(decisions|evidence|(known-bugs|promises|speed|comparison|compatibility|support|glossary|questions)\.md|guides\/(lab|torture|traps|moving|one-hot-key|write-your-own-backend)\.md)|(ARCHITECTURE|CONTRIBUTING)\.md$|.*\.zh-CN\.md$|docs\/.*\.(svg|png)$)/;

/** The links of the pages among these files, in `folder`, that lead nowhere. */
export function deadLinks(folder: string, files: readonly string[]): string[] {
  return files
    .filter((path) => path.endsWith('.md'))
    .flatMap((page) =>
      [...readFileSync(join(folder, page), 'utf8').matchAll(/\]\(([^)\s#]+)/g)]
        .filter(([, target]) => !/^[a-z]+:/.test(target!))
        .map(([, target]) => posix.join(posix.dirname(page), target!).replace(/\/$/, ''))
        .filter(
          (path) => !IN_REPOSITORY.test(path) && !files.some((each) => each === path || each.startsWith(`${path}/`)),
        )
        .map((path) => `${page} leads to ${path}`),
    );
}
