/** An exchange that was answered. By the clock. */
interface Exchange {
  readonly sent: number;
  readonly answered: number;
}

/** Exchanges remembered for the length of a report, at most: those in between say hardly more. */
const GRAIN = 16;

/**
 * When, at the earliest, the leader has last heard of a session whose client is connected to some server.
 *
 * A leader does not learn of a client by the client's requests, not even those that it has a part in: it learns of it as a session is
 * opened or resumed, and from then on by the reports of the follower, from time to time. So an exchange proves nothing by itself: the
 * follower may end before it reports. It counts once a later one, sent so long after its answer that a report must lie between
 * them, was answered with the leader's help: then the follower was there to report.
 * @see https://github.com/apache/zookeeper/blob/master/zookeeper-server/src/main/java/org/apache/zookeeper/server/quorum/LearnerSessionTracker.java
 */
export class LastHeard {
  /** By the clock. */
  certain: number;
  readonly #report: number;
  readonly #unreported: Exchange[] = [];

  /**
   * @param opened when the session was asked to be opened or resumed
   * @param report longest time between two reports of a follower, ms
   */
  constructor(opened: number, report: number) {
    this.certain = opened;
    this.#report = report;
  }

  /** Exchanges are told in the order in which they were sent. */
  answered(sent: number, answered: number): void {
    let reported = 0;
    for (const earlier of this.#unreported) {
      if (earlier.answered + this.#report > sent) break;
      this.certain = earlier.sent;
      reported++;
    }
    this.#unreported.splice(0, reported);
    const last = this.#unreported.at(-1);
    if (!last || sent >= last.sent + this.#report / GRAIN) this.#unreported.push({ sent, answered });
  }
}
