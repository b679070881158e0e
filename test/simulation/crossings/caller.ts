import type { Locks } from '../../../src/locks.ts';
import type { Lock } from '../../../src/primitives/lock.ts';
import { asking } from '../asking.ts';
import type { Choice } from '../choice.ts';
import type { Process } from '../process.ts';
import { Asker, KEYS } from './asker.ts';
import type { Feature, Primitive } from './features.ts';
import { Moments } from './moments.ts';
import type { CrossingRecorder } from './recorder.ts';

const TTL = 1_500;

/** Makes one request, with all that is around it and befalls it. */
export class CrossingCaller {
  readonly process: Process;
  /** What a request is nested in that looks for deadlocks. */
  readonly outer: string;
  readonly #locks: Locks;
  readonly #choice: Choice;
  readonly #recorder: CrossingRecorder;
  readonly #asker: Asker;

  constructor(process: Process, locks: Locks, choice: Choice, recorder: CrossingRecorder) {
    this.process = process;
    this.#locks = locks;
    this.#choice = choice;
    this.#recorder = recorder;
    this.#asker = new Asker(process, locks, choice, recorder);
    this.outer = `outer ${recorder.next()}`;
  }

  async crosses(primitive: Primitive, features: readonly Feature[], moments: Moments = new Moments()): Promise<void> {
    if (features.includes('forced')) this.#when(moments, () => this.#forces(primitive));
    if (features.includes('close')) this.#when(moments, () => this.closes());
    const asks = (): Promise<void> => this.#asker.asks({ primitive, features, moments });
    const inside = features.includes('memo') ? () => this.#inMemo(asks) : asks;
    const work = features.includes('detect') ? () => this.#nested(inside) : inside;
    await this.#recorder.op(this.process.name, `${primitive} with ${features.join(' and ')}`, work);
    moments.reach('done');
  }

  /** Has what the other one is going to ask for, and asks for what that one has around it. */
  async opposes(primitive: Primitive, outer: string, own: Moments, others: Moments): Promise<void> {
    const { process } = this;
    const recorder = this.#recorder;
    const units = primitive === 'semaphore' ? { units: 3 } : {};
    await recorder.op(process.name, 'opposes', () =>
      this.#whole(primitive).run(
        async (lease) => {
          recorder.given(process, lease);
          own.reach('given');
          await others.at('asked');
          const options = { ttl: TTL, wait: 8_000, detect: true };
          const request = { primitive: 'mutex', features: ['detect'], moments: own, options, keys: [outer] } as const;
          await this.#asker
            .takes({ ...request, lock: this.#locks.mutex(outer), work: async () => {} })
            .finally(() => recorder.back(lease));
        },
        { ttl: TTL, label: asking.getStore()!, ...units },
      ),
    );
    own.reach('done');
  }

  async closes(): Promise<void> {
    const { process } = this;
    this.#recorder.closes(process);
    await this.#recorder.op(process.name, 'close', () => this.#locks.close());
    this.#recorder.add({ what: 'closed', by: process.name });
  }

  /** All that requests of this kind ask for, or the first key of several. */
  #whole(primitive: Primitive): Lock {
    if (primitive === 'semaphore') return this.#locks.semaphore('s', { permits: 3 });
    return primitive === 'read' ? this.#locks.rwLock('k').write : this.#locks.mutex('k');
  }

  async #forces(primitive: Primitive): Promise<void> {
    const key = this.#choice.pick(KEYS[primitive]);
    await this.#recorder.op(this.process.name, 'forceRelease', async () => {
      const evicted = await this.#locks.forceRelease(key, { reason: 'simulated' });
      this.#recorder.add({ what: 'forced', key, evicted });
    });
  }

  /** Something befalls a request: in the turn of what becomes of it, or a little later. */
  #when(moments: Moments, act: () => Promise<void>): void {
    const after = this.#choice.chance(0.5) ? 0 : this.#choice.between(0, 60);
    void moments.at(this.#choice.pick(['asked', 'given', 'back'])).then(async () => {
      if (after > 0) await this.process.sleep(after);
      if (!this.process.crashed) await act();
    });
  }

  async #nested(inside: () => Promise<unknown>): Promise<void> {
    await this.#locks.mutex(this.outer).run(
      async (lease) => {
        this.#recorder.given(this.process, lease);
        await inside().finally(() => this.#recorder.back(lease));
      },
      { ttl: TTL, label: asking.getStore()! },
    );
  }

  /** The memo is its own, or that of its process: then one of its callers runs, and the others have what that gave. */
  async #inMemo(inside: () => Promise<unknown>): Promise<void> {
    const key = `memo ${this.#choice.chance(0.5) ? this.process.name : this.outer}`;
    await this.#locks.memo<string>(key, { ttl: TTL, label: asking.getStore()! }).run(async (run) => {
      using _ = this.#recorder.runs(this.process, run);
      await inside();
      return 'done';
    });
  }
}
