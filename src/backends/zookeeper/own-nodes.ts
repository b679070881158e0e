import type { Claim, Handle } from '../../core/index.ts';
import { encodeKey, isOf, nodeName } from './names.ts';
import { inContainer, list, listNow, read, removeNode } from './nodes.ts';
import type { OwnNode } from './own-node.ts';
import type { ZooKeeperConnection } from './wire/connection.ts';
import { type Acl, type CreatedNode, createEphemeralSequential, type NodeChildren } from './wire/operations.ts';

/** A place, and a listing of its queue from after it was taken. */
type Stand = readonly [place: OwnNode, listing: NodeChildren];

/** A claim that was given up; its node may still be there, under this path if that is known. */
type Leaving = Handle & { readonly path?: string };

export class OwnNodes {
  readonly #root: string;
  readonly #acl: readonly Acl[];
  readonly #own = new Map<string, OwnNode>();
  /** Nodes that may be there, by the id of the claim. With a path: its session may be over. Without one: its creation was not answered. */
  readonly #doubts = new Map<string, string | undefined>();
  /** Ids of claims for which no node was asked for yet. */
  readonly #unsent = new Set<string>();
  /** Claims that were given up, by id. The session may still keep their nodes, so they stay here until the nodes are surely gone. */
  readonly #leaving = new Map<string, Leaving>();

  constructor(root: string, acl: readonly Acl[]) {
    this.#root = root;
    this.#acl = acl;
  }

  parent(key: string): string {
    return `${this.#root}/${encodeKey(key)}`;
  }

  get leaving(): readonly Leaving[] {
    return [...this.#leaving.values()];
  }

  /** Our place, if its node is of this session. A node of an earlier session is lost. */
  get(id: string, session: bigint): OwnNode | undefined {
    const place = this.#own.get(id);
    if (!place || place.session === session) return place;
    this.lose(id, place);
    return undefined;
  }

  begin({ id }: Handle): void {
    if (!this.#own.has(id) && !this.#doubts.has(id)) this.#unsent.add(id);
  }

  /** Whether there is surely nothing of a claim, because it has only waited for a connection. */
  endUnsent({ id }: Handle): boolean {
    return this.#unsent.delete(id);
  }

  /** Takes a place in the queue, or finds the one that was taken. */
  async stand(connection: ZooKeeperConnection, claim: Claim): Promise<Stand> {
    const place = this.get(claim.id, connection.session) ?? (await this.#adopt(connection, claim));
    if (place) {
      const listing = await listNow(connection, this.parent(claim.key));
      if (listing.names.includes(place.name)) return [place, listing];
      this.lose(claim.id, place);
    }
    return this.#create(connection, claim);
  }

  async #create(connection: ZooKeeperConnection, claim: Claim): Promise<Stand> {
    const parent = this.parent(claim.key);
    const path = `${parent}/${nodeName(claim)}`;
    const creation = createEphemeralSequential(path, Buffer.from(claim.label), this.#acl);
    return inContainer(connection, path, this.#acl, async () => {
      this.#unsent.delete(claim.id);
      this.#doubts.set(claim.id, undefined);
      // Both are sent at once. The server answers in order, so the listing has the new node and all nodes ahead of it. The path is
      // kept as soon as it is known: a user who may make nodes but not list them can then still remove the node.
      const making = connection.request(creation).then((created) => this.#keep(claim, connection, created));
      return Promise.all([making, list(connection, parent)]);
    });
  }

  #keep({ id }: Handle, { session }: ZooKeeperConnection, { path, stat }: CreatedNode): OwnNode {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const place = { session, path, name, token: stat.czxid, asked: 0 };
    this.#doubts.delete(id);
    this.#own.set(id, place);
    return place;
  }

  /**
   * The node of a claim whose creation was never answered. A node of an earlier session ends with that session and must not be taken
   * for ours (CURATOR-498). It is removed, so that nobody waits for it.
   */
  async #adopt(connection: ZooKeeperConnection, claim: Claim): Promise<OwnNode | undefined> {
    if (!this.#doubts.has(claim.id)) return undefined;
    let adopted: OwnNode | undefined;
    for (const path of await nodesOf(connection, this.parent(claim.key), claim.id)) {
      const node = await read(connection, path);
      if (node?.stat.ephemeralOwner === connection.session)
        adopted = Object.assign(this.#keep(claim, connection, { path, ...node }), { made: Number.NEGATIVE_INFINITY });
      else if (node) await removeNode(connection, path);
    }
    return adopted;
  }

  /** From now on the end of the node is no loss. The node must still be removed, until `leave` has succeeded. */
  giveUp({ id, key }: Handle): void {
    const place = this.#own.get(id);
    this.#own.delete(id);
    const path = place?.path ?? this.#doubts.get(id);
    if (place || this.#doubts.has(id)) this.#leaving.set(id, { id, key, path });
  }

  /** Removes the node of a claim that was given up, by its path or by its name. @returns whether there was one */
  async leave(connection: ZooKeeperConnection, handle: Handle): Promise<boolean> {
    const path = this.#leaving.get(handle.id)?.path;
    const paths = path === undefined ? await nodesOf(connection, this.parent(handle.key), handle.id) : [path];
    const ends = await Promise.all(paths.map((each) => removeNode(connection, each)));
    this.forgive(handle.id);
    return ends.includes(true);
  }

  /** Gives a claim up, and removes its node. If this fails, the next connection removes it. */
  withdraw(connection: ZooKeeperConnection, handle: Handle): Promise<boolean> {
    this.giveUp(handle);
    return this.leave(connection, handle);
  }

  /** There is nothing left that we could remove. */
  forgive(id: string): void {
    this.#leaving.delete(id);
    this.#doubts.delete(id);
  }

  has(id: string, place: OwnNode): boolean {
    return this.#own.get(id) === place;
  }

  /** The node is gone, and we did not remove it. */
  lose(id: string, place: OwnNode): void {
    if (!this.has(id, place)) return;
    this.#own.delete(id);
    place.lost?.abort();
  }

  /** A session has ended, and all its nodes with it. */
  expired(session: bigint): void {
    for (const [id, place] of this.#own) if (place.session === session) this.lose(id, place);
  }

  /** Holds are lost for good, even if the session comes back: their holders have been told. Places wait on. */
  doubtful(session: bigint): void {
    for (const [id, place] of this.#own) {
      if (place.session !== session || !place.lost) continue;
      this.#doubts.set(id, place.path);
      this.lose(id, place);
    }
  }
}

async function nodesOf(connection: ZooKeeperConnection, parent: string, id: string): Promise<string[]> {
  const { names } = await listNow(connection, parent);
  return names.filter((name) => isOf(id, name)).map((name) => `${parent}/${name}`);
}
