import type { What } from './events.ts';
import type { Kind } from './message.ts';
import type { Caller, Setting } from './setting.ts';
import type { Store } from './store.ts';

/** A client gives up on an answer after this long. ms */
const PATIENCE = 500;

/** A key-value server as one process reaches it, with the commands that naive locks are made of. */
export class StoreClient {
  readonly #caller: Caller;
  readonly #store: Store;
  readonly #setting: Setting;
  readonly #place: string;

  constructor(caller: Caller, store: Store, setting: Setting, place: string) {
    this.#caller = caller;
    this.#store = store;
    this.#setting = setting;
    this.#place = place;
  }

  get alive(): boolean {
    return !this.#store.machine.crashed;
  }

  /** Who has the key, and what they wrote beside their name. */
  get(): Promise<{ readonly owner: string; readonly text: string } | undefined> {
    return this.#call('get', () => {
      const value = this.#store.get();
      if (value) this.#tell('looks-taken', value.owner);
      else this.#tell('looks-free');
      return value;
    });
  }

  set(ttl: number, text = ''): Promise<void> {
    return this.#call('set', () => {
      const before = this.#store.get();
      this.#store.set(this.#caller.name, ttl, text);
      if (before && before.owner !== this.#caller.name) this.#tell('overwrites', before.owner);
      else this.#noteGrant(ttl);
    });
  }

  /** Sets it only where there is none. */
  add(ttl: number): Promise<boolean> {
    return this.#call('set', () => {
      const added = this.#store.add(this.#caller.name, ttl);
      if (added) this.#noteGrant(ttl);
      else this.#tell('refused', this.#store.get()!.owner);
      return added;
    });
  }

  expire(ttl: number): Promise<void> {
    return this.#call('expire', () => {
      this.#store.expire(ttl);
      this.#tell('ending-set', undefined, ttl);
      this.#watchExpiry(ttl);
    });
  }

  delete({ publish = false } = {}): Promise<boolean> {
    return this.#call('delete', () => {
      const gone = this.#store.delete();
      if (!gone) this.#tell('releases-nothing');
      else if (gone.owner === this.#caller.name) this.#tell('released');
      else this.#tell('robs', gone.owner);
      if (publish) this.#store.publish();
      return gone !== undefined;
    });
  }

  /** Calls `woken` whenever somebody says that they gave the lock back, from when this is answered. */
  subscribe(woken: () => void): Promise<void> {
    const { process, name } = this.#caller;
    return this.#call('subscribe', () => {
      this.#store.listeners.set(name, () => this.#setting.network.tell(process, this.#store.machine, woken));
      this.#tell('subscribed');
    });
  }

  #noteGrant(ttl: number): void {
    if (ttl < Number.POSITIVE_INFINITY) {
      this.#tell('granted', undefined, ttl);
      this.#watchExpiry(ttl);
    } else this.#tell('granted-for-ever');
  }

  /** The server itself notices only when somebody asks. */
  #watchExpiry(ttl: number): void {
    const { name } = this.#caller;
    const value = this.#store.get();
    this.#setting.at(this.#setting.now + ttl, () => {
      if (this.#store.left === value && value!.expires <= this.#store.machine.clock.now() + 0.01)
        this.#setting.tell({ what: 'expired', who: name, place: this.#place });
    });
  }

  #tell(what: What, other?: string, n?: number): void {
    this.#setting.tell({ what, who: this.#caller.name, place: this.#place, other, n });
  }

  /** @throws when the connection broke, or nothing was heard */
  #call<T>(kind: Kind, work: () => T): Promise<T> {
    const { network } = this.#setting;
    network.next(kind);
    const answer = network.call(this.#caller.process, this.#store.machine, async () => work());
    return new Promise((resolve, reject) => {
      void answer.then(resolve, reject);
      void this.#caller.sleep(PATIENCE).then(() => reject(new Error('no answer')));
    });
  }
}
