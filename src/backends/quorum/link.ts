import {
  Activity,
  type Backend,
  type CallTimeouts,
  type Clock,
  type Handle,
  inMs,
  promiseOf,
} from '../../core/index.ts';

/** How often a silent node is asked again, ms. In between it is skipped. */
const PROBE_MS = 500;
/** The pause after the first failed try of a release, ms. Each later pause is twice as long, up to the maximum. */
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2_000;

/** This error is created once: its stack makes it more expensive than a message. */
const SILENT = new Error('is silent');

/**
 * Receives the outcome of a request by direct calls. Callbacks of a promise run later, so the next request, too, would reach the nodes later.
 */
export interface Receiver<Answer> {
  onAnswer(answer: Answer): void;
  /** Receives the reason when the outcome is unknown, or must not count. */
  onFailure(why: unknown): void;
  /** Receives an answer that came after the request had failed. */
  onLateAnswer?(answer: Answer): void;
}

/** The requests to one node, each with a time limit. A node is silent from the first missed limit until its next answer. */
export class Link {
  readonly clock: Clock;
  readonly #timeouts: CallTimeouts;
  #state: 'answers' | 'silent' = 'answers';
  #probeAt = 0;

  constructor(clock: Clock, timeouts: CallTimeouts) {
    this.clock = clock;
    this.#timeouts = timeouts;
  }

  skipOrProbe(): Error | undefined {
    if (this.#state === 'answers') return undefined;
    const now = this.clock.now();
    if (now < this.#probeAt) return SILENT;
    this.#probeAt = now + PROBE_MS;
    return undefined;
  }

  answer<T>(call: () => Promise<T>, within: number): Promise<T> {
    const now = this.clock.now();
    return new Promise((answered, failed) => this.ask(call, within, now, { onAnswer: answered, onFailure: failed }));
  }

  ask<T>(call: () => Promise<T>, within: number, sent: number, receiver: Receiver<T>): void {
    const expire = (): void => {
      this.#state = 'silent';
      this.#probeAt = this.clock.now() + PROBE_MS;
      receiver.onFailure(new Error(`no answer within ${inMs(within)}`));
    };
    const limit = this.#timeouts.begin(within, expire, sent);
    promiseOf(call).then(
      (answer) => {
        this.#state = 'answers';
        try {
          if (this.#timeouts.end(limit)) receiver.onAnswer(answer);
          else receiver.onLateAnswer?.(answer);
        } catch (error) {
          receiver.onFailure(error); // a backend that a user wrote may give any answer
        }
      },
      (error) => {
        this.#state = 'answers';
        if (this.#timeouts.end(limit)) receiver.onFailure(error);
      },
    );
  }
}

/** Releases claims at one node. A release is sent again until the node confirms it, or the claim must have expired. */
export class NodeReleases {
  readonly #backend: Backend;
  readonly #link: Link;
  readonly #pauses: Activity;

  constructor(backend: Backend, link: Link) {
    this.#backend = backend;
    this.#link = link;
    this.#pauses = new Activity(link.clock);
  }

  /**
   * @param expiry ms after which the claim must have expired
   * @param onOutcome receives the outcome of the first try: whether it freed the claim; undefined if that is unknown
   */
  begin(handle: Handle, within: number, expiry: number, onOutcome: (freed: boolean | undefined) => void): void {
    const sent = this.#link.clock.now();
    this.#link.ask(() => this.#backend.release(handle), within, sent, {
      onAnswer: ({ freed }) => onOutcome(freed),
      onFailure: () => {
        onOutcome(undefined);
        void this.#retry(handle, within, sent + expiry);
      },
    });
  }

  close(): void {
    void this.#pauses.quiet(0);
  }

  async #retry(handle: Handle, within: number, until: number): Promise<void> {
    for (let pause = MIN_PAUSE_MS; this.#link.clock.now() < until; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      await this.#pauses.pause(pause, true);
      if (this.#pauses.over) return;
      try {
        await this.#link.answer(() => this.#backend.release(handle), within);
        return;
      } catch {}
    }
  }
}
