import type { HeldLease, LockError } from '../core/index.ts';

/** Ends the wait for one lock of a caller that already has others, when it loses one of them or its signal aborts. */
export class WaitAbort implements Disposable {
  /** The loss that ended the wait. */
  loss: LockError | undefined;
  readonly #controller = new AbortController();
  readonly #unlisten: (() => void)[] = [];

  constructor(own: AbortSignal | undefined) {
    if (!own) return;
    const abort = (): void => this.#controller.abort(own.reason);
    if (own.aborted) abort();
    else own.addEventListener('abort', abort, { once: true });
    this.#unlisten.push(() => own.removeEventListener('abort', abort));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Makes the loss of this lease end the wait, from now on. */
  onLossOf({ hold }: HeldLease): void {
    const lost = (loss: LockError): void => {
      this.loss ??= loss;
      this.#controller.abort(loss);
    };
    this.#unlisten.push(hold.listeners.onLoss(lost));
  }

  [Symbol.dispose](): void {
    for (const unlisten of this.#unlisten) unlisten();
  }
}
