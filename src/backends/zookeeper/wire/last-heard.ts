/** An answered request. Times are by the clock. */
interface Exchange {
  readonly sent: number;
  readonly answeredAt: number;
}

/** How many exchanges are remembered for the time between two reports, at most. More would hardly add anything. */
const GRAIN = 16;

/**
 * When, at the earliest, the leader has last heard of a session whose client is connected to any server.
 *
 * The leader does not learn of a client by its requests, not even by those that it has a part in. It learns of it when the session is
 * opened or resumed, and then by the follower's reports, from time to time. So an exchange alone proves nothing: the follower may end
 * before it reports. An exchange counts after a later one was answered with the leader's help, if that was sent so long after the
 * answer to the first that a report must lie between them. Then the follower was there to report.
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

  /** To be called in the order in which the requests were sent. */
  noteAnswer(sent: number, answeredAt: number): void {
    let reported = 0;
    for (const earlier of this.#unreported) {
      if (earlier.answeredAt + this.#report > sent) break;
      this.certain = earlier.sent;
      reported++;
    }
    this.#unreported.splice(0, reported);
    const last = this.#unreported.at(-1);
    if (!last || sent >= last.sent + this.#report / GRAIN) this.#unreported.push({ sent, answeredAt });
  }
}
