import type { LockOptions } from '../../src/core/contract/options.ts';
import type { AnyLease, Lease } from '../../src/core/queue/held-lease.ts';
import type { Locks } from '../../src/locks.ts';
import type { Memo, MemoWait } from '../../src/memo/memo.ts';
import type { Lock } from '../../src/primitives/lock.ts';
import type { MemoRecorder } from '../simulation/memo/recorder.ts';
import type { Process } from '../simulation/process.ts';
import type { Recorder } from '../simulation/recorder.ts';
import type { Stage } from './stage.ts';

/** What the callers in one process do. */
export class Actor {
  readonly locks: Locks;
  readonly process: Process;
  readonly #recorder: Recorder;
  readonly #stage: Stage;
  readonly #memos: MemoRecorder;

  constructor(process: Process, locks: Locks, recorder: Recorder, memos: MemoRecorder, stage: Stage) {
    this.process = process;
    this.locks = locks;
    this.#recorder = recorder;
    this.#stage = stage;
    this.#memos = memos;
  }

  /** One operation from the asking to the end; what it throws is written down. */
  does(as: string, work: () => Promise<unknown>): Promise<void> {
    return this.#recorder.op(this.process.name, as, work);
  }

  /** Goes on when that is chosen. */
  step(): Promise<void> {
    return new Promise((resolve) => this.#stage.send(this.process.name, this.process, resolve));
  }

  /** As long as it takes, by its own clock. */
  works(ms: number): Promise<void> {
    return this.process.sleep(ms);
  }

  has(lease: AnyLease): void {
    this.#recorder.given(this.process, lease);
  }

  gives(lease: AnyLease): Promise<unknown> {
    this.#recorder.back(lease);
    return lease.release();
  }

  /** Takes a lock, works, gives it back. */
  uses(
    lock: Lock,
    options: LockOptions = {},
    work: (lease: Lease) => Promise<unknown> = () => this.step(),
  ): Promise<void> {
    return this.does('acquire', async () => {
      const lease = (await lock.acquire({ wait: 600, ...options })) as Lease;
      this.has(lease);
      await work(lease);
      await this.gives(lease);
    });
  }

  /** Asks for the result of a memo. @param work without a value it fails */
  async remembers(
    memo: Memo<string>,
    work: (op: number) => Promise<string | undefined> = (op) => this.step().then(() => `value of ${op}`),
    options: MemoWait = { wait: 600 },
  ): Promise<void> {
    const recorder = this.#memos;
    const op = recorder.asks(this.process, memo.key);
    try {
      const result = await memo.run(async (run) => {
        using _ = recorder.begins(op, this.process, run);
        const value = await work(op);
        recorder.add({ what: 'done', op, ...(value !== undefined && { value }) });
        if (value === undefined) throw new Error(`error of ${op}`);
        return value;
      }, options);
      const { value, ran, kept, token } = result;
      recorder.add({ what: 'had', op, key: memo.key, value, ran, kept, token });
    } catch (error) {
      const { code, message } = error as Error & { code?: string };
      recorder.add({ what: 'missed', op, error: code ?? message });
    }
  }

  enters(lease: Lease, child: number): void {
    this.#recorder.add({ what: 'in', key: lease.key, token: lease.token, child });
  }

  leaves(lease: Lease, child: number): void {
    this.#recorder.add({ what: 'out', key: lease.key, token: lease.token, child });
  }
}
