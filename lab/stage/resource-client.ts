import type { Caller, Setting } from './setting.ts';

/** The counter as one process reaches it. With a token it is guarded. */
export class ResourceClient {
  readonly #caller: Caller;
  readonly #setting: Setting;

  constructor(caller: Caller, setting: Setting) {
    this.#caller = caller;
    this.#setting = setting;
  }

  /** @throws LockError `LOCK_FENCED` */
  read(token: bigint | undefined): Promise<number> {
    return this.#call('read', token, () => {
      const value = this.#setting.resource.read(token);
      this.#setting.tell({ what: 'reads', who: this.#caller.name, n: value });
      return value;
    });
  }

  /**
   * One more than what was seen.
   * @throws LockError `LOCK_FENCED`
   */
  write(seen: number, token: bigint | undefined): Promise<void> {
    return this.#call('write', token, () => {
      const written = this.#setting.resource.write(seen, token);
      const what = written === 'written' ? 'writes' : 'loses';
      this.#setting.tell({ what, who: this.#caller.name, n: this.#setting.resource.value });
    });
  }

  #call<T>(kind: 'read' | 'write', token: bigint | undefined, work: () => T): Promise<T> {
    const { network, resource } = this.#setting;
    network.next(kind);
    return network.call(this.#caller.process, resource.machine, async () => {
      try {
        return work();
      } catch (error) {
        const { name: who } = this.#caller;
        this.#setting.tell({ what: 'fenced', who, token: `${token}`, other: `${resource.newest}`, code: kind });
        throw error;
      }
    });
  }
}
