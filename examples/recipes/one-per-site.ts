import type { Locks } from '../../src/index.ts';

export interface Site {
  readonly host: string;
  /** Fetches one page; false when there are no more. */
  next(signal: AbortSignal): Promise<boolean>;
}

/** Run by each of ten workers: goes through the sites and crawls those that nobody else is at. */
export async function crawl(locks: Locks, sites: readonly Site[]): Promise<string[]> {
  const crawled: string[] = [];
  for (const site of sites) {
    const lease = await locks.mutex(`site:${site.host}`).tryAcquire();
    if (!lease) continue;
    await using _ = lease;
    // Lost: somebody else is at this site by now, or soon.
    while (lease.held && (await site.next(lease.signal)));
    crawled.push(site.host);
  }
  return crawled;
}
