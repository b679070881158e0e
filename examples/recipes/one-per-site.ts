import type { Locks } from '../../src/index.ts';

export interface Site {
  readonly host: string;
  /** Fetches a page that is due, and notes that it was fetched, where all workers see it. False: none is due. */
  next(signal: AbortSignal): Promise<boolean>;
}

/** Run by each of ten workers: goes through the sites and crawls those that no other worker is at. */
export async function crawl(
  locks: Locks,
  sites: readonly Site[],
  warn: (error: unknown) => void = console.warn,
): Promise<string[]> {
  const crawled: string[] = [];
  for (const site of sites) {
    const lease = await locks.mutex(`site:${site.host}`).tryAcquire();
    if (!lease) continue;
    await using _ = lease;
    try {
      // Lost: another worker is at this site by now, or soon.
      while (lease.held && (await site.next(lease.signal)));
      crawled.push(site.host);
    } catch (error) {
      warn(error); // of this site; the worker goes on to the next
    }
  }
  return crawled;
}
