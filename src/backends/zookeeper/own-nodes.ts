import type { Claim, Handle } from '../../core/index.ts';
import { encodeKey, isOf, nodeName } from './names.ts';
import { inContainer, list, listNow, read, removeNode } from './nodes.ts';
import type { OwnNode } from './own-node.ts';
import type { ZooKeeperConnection } from './wire/connection.ts';
import { type Acl, type CreatedNode, createEphemeralSequential, type NodeChildren } from './wire/operations.ts';

/** A node, and a listing of its queue that contains the node. */
type Stand = readonly [place: OwnNode, listing: NodeChildren];

/** A claim that was given up. Its node may still exist. `path` is the path of the node, if it is known. */
type Leaving = Handle & { readonly path?: string };

export class OwnNodes {
  readonly #root: string;
  readonly #acl: readonly Acl[];
  readonly places = new Map<string, OwnNode>();
  /** By claim id, a node that may exist: its path if its session may be over, undefined if its creation was not answered. */
  readonly #doubts = new Map<string, string | undefined>();
  /** The ids of claims for which no creation of a node was sent yet. */
  readonly #unsent = new Set<string>();
  /** The claims that were given up, by id. The session may keep their nodes, so each stays here until its node is surely gone. */
  readonly leaving = new Map<string, Leaving>();

  constructor(root: string, acl: readonly Acl[]) {
    this.#root = root;
    this.#acl = acl;
  }

  parent(key: string): string {
    return `${this.#root}/${encodeKey(key)}`;
  }

  /** The node of a claim, if this session made it. A node of an earlier session is lost. */
  get(id: string, session: bigint): OwnNode | undefined {
    const place = this.places.get(id);
    if (!place || place.session === session) return place;
    this.lose(id, place);
    return undefined;
  }

  /** @returns whether this process knows of no earlier attempt of the claim */
  begin({ id }: Handle): boolean {
    const isFirst = ![this.#unsent, this.places, this.#doubts, this.leaving].some((known) => known.has(id));
    if (isFirst) this.#unsent.add(id);
    return isFirst;
  }

  /**
   * Forgets a claim that has only waited for a connection.
   * @returns true if the claim has only waited: then it surely has no node
   */
  endUnsent({ id }: Handle): boolean {
    return this.#unsent.delete(id);
  }

  /** Makes the node of a claim, or finds the node that was made before. @param began when the attempt began, by the clock */
  async stand(connection: ZooKeeperConnection, claim: Claim, began: number): Promise<Stand> {
    if (this.leaving.has(claim.id)) await this.leave(connection, claim); // its late node would stand before the new one
    const place = this.get(claim.id, connection.session) ?? (await this.#adopt(connection, claim, began));
    if (place) {
      const listing = await listNow(connection, this.parent(claim.key));
      if (listing.names.includes(place.name)) return [place, listing];
      this.lose(claim.id, place);
    }
    return this.#create(connection, claim, began);
  }

  async #create(connection: ZooKeeperConnection, claim: Claim, began: number): Promise<Stand> {
    const parent = this.parent(claim.key);
    const path = `${parent}/${nodeName(claim)}`;
    const creation = createEphemeralSequential(path, Buffer.from(claim.label), this.#acl);
    return inContainer(connection, path, this.#acl, async () => {
      this.#unsent.delete(claim.id);
      this.#doubts.set(claim.id, undefined);
      // Both requests are sent at once. The server answers in order, so the listing has the new node and all nodes ahead of it. If
      // the listing fails, the path is kept: a user with the right to make nodes, but not to list them, can then remove the node.
      const keep = (created: CreatedNode) => this.#keep(claim.id, connection.session, created, began, began);
      const making = connection.request(creation).then(keep);
      return Promise.all([making, list(connection, parent)]);
    });
  }

  /** Keeps a node with its times from the first moment on: a notification may grant it before the rest of this attempt is answered. */
  #keep(id: string, session: bigint, { path, stat }: CreatedNode, asked: number, made: number): OwnNode {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const place = { session, path, name, token: stat.czxid, asked, made };
    this.#doubts.delete(id);
    this.places.set(id, place);
    return place;
  }

  /**
   * Finds a node whose creation was not answered. Removes a node of an earlier session: the node ends with that session, so the claim must
   * not take it as its place (CURATOR-498), and nobody should wait for it.
   */
  async #adopt(connection: ZooKeeperConnection, claim: Claim, began: number): Promise<OwnNode | undefined> {
    if (!this.#doubts.has(claim.id)) return undefined;
    let adopted: OwnNode | undefined;
    for (const path of await nodesOf(connection, this.parent(claim.key), claim.id)) {
      const node = await read(connection, path);
      if (node?.stat.ephemeralOwner === connection.session)
        adopted = this.#keep(claim.id, connection.session, { path, ...node }, began, Number.NEGATIVE_INFINITY);
      else if (node) await removeNode(connection, path);
    }
    return adopted;
  }

  /** From now on the end of the node does not count as a loss. `leave` removes the node. */
  giveUp({ id, key }: Handle): void {
    const place = this.places.get(id);
    this.places.delete(id);
    const path = place?.path ?? this.#doubts.get(id);
    if (place || this.#doubts.has(id)) this.leaving.set(id, { id, key, path });
  }

  /** Removes the node of a claim that was given up, by its path or by its name. @returns whether there was a node */
  async leave(connection: ZooKeeperConnection, handle: Handle): Promise<boolean> {
    const path = this.leaving.get(handle.id)?.path;
    const paths = path === undefined ? await nodesOf(connection, this.parent(handle.key), handle.id) : [path];
    const ends = await Promise.all(paths.map((each) => removeNode(connection, each)));
    this.forgive(handle.id);
    return ends.includes(true);
  }

  /** Gives a claim up, and removes its node. If the removal fails, the next connection repeats it. */
  withdraw(connection: ZooKeeperConnection, handle: Handle): Promise<boolean> {
    this.giveUp(handle);
    return this.leave(connection, handle);
  }

  /** Forgets a claim that was given up: this process has nothing more to remove. */
  forgive(id: string): void {
    this.leaving.delete(id);
    this.#doubts.delete(id);
  }

  has(id: string, place: OwnNode): boolean {
    return this.places.get(id) === place;
  }

  /** The node is gone, and this process has not removed it. */
  lose(id: string, place: OwnNode): void {
    if (!this.has(id, place)) return;
    this.places.delete(id);
    place.lost?.abort();
  }

  /** A session has ended, and all its nodes with it. */
  expired(session: bigint): void {
    for (const [id, place] of this.places) if (place.session === session) this.lose(id, place);
  }

  /** The session may be over. Its holds are lost, even if the session comes back: their holders are notified now. Waiting claims keep their nodes. */
  doubtful(session: bigint): void {
    for (const [id, place] of this.places) {
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
