import type { Actor } from './actor.ts';
import type { Stage } from './stage.ts';

/** The counter as one process reaches it. With a token it is guarded. */
export class ResourceClient {
  readonly #actor: Actor;
  readonly #stage: Stage;

  constructor(actor: Actor, stage: Stage) {
    this.#actor = actor;
    this.#stage = stage;
  }

  /** @throws LockError `LOCK_FENCED` */
  read(token: bigint | undefined): Promise<number> {
    return this.#call('read', token, () => {
      const value = this.#stage.resource.read(token);
      this.#stage.tell({ what: 'reads', who: this.#actor.name, n: value });
      return value;
    });
  }

  /**
   * One more than what was seen.
   * @throws LockError `LOCK_FENCED`
   */
  write(seen: number, token: bigint | undefined): Promise<void> {
    return this.#call('write', token, () => {
      const written = this.#stage.resource.write(seen, token);
      const what = written === 'written' ? 'writes' : 'loses';
      this.#stage.tell({ what, who: this.#actor.name, n: this.#stage.resource.value });
    });
  }

  #call<T>(kind: 'read' | 'write', token: bigint | undefined, work: () => T): Promise<T> {
    const { network, resource } = this.#stage;
    network.next(kind);
    return network.call(this.#actor.process, resource.machine, async () => {
      try {
        return work();
      } catch (error) {
        const { name: who } = this.#actor;
        this.#stage.tell({ what: 'fenced', who, token: `${token}`, other: `${resource.newest}`, code: kind });
        throw error;
      }
    });
  }
}
