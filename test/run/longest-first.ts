import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes 50 s or more, the longest first, by a part of its path. A name that no file has any more fails a test. */
export const LONGEST = [
  'testing/release-moment',
  'backends/redis-sentinel/conformance',
  'backends/redlock/conformance',
  'backends/nats/conformance',
  'backends/redis-plain/peers',
  'backends/mysql/lease',
  'backends/postgres/conformance',
  'backends/etcd/conformance',
  'backends/zookeeper/conformance',
  'cli/run',
  'backends/etcd/cluster',
  'rivals/rivals',
  'docs/start',
  'site/site',
  'backends/file',
  'torture/torture',
] as const;

/** Where a file stands in the order: a small number is early. */
export function rank(path: string): number {
  const place = LONGEST.findIndex((part) => path.includes(`/test/${part}.test.ts`));
  return place < 0 ? LONGEST.length : place;
}

/**
 * Vitest goes by what it remembers of the last run, and where it remembers nothing, as after a fresh install, by the size of files. The
 * files that take longest are small, so they would come last.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => rank(a.moduleId) - rank(b.moduleId));
  }
}
