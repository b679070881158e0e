import type { Claim, Handle } from '../../core/backend.ts';
import type { Guard, Refusal } from './lines.ts';
import { isOf, nameOf } from './names.ts';
import { ensureContainer, type Listing, list, listNow, read, removed, TRIES } from './nodes.ts';
import { encodeKey } from './paths.ts';
import type { Connection } from './wire/connection.ts';
import { Code, isKeeperError } from './wire/errors.ts';
import { type Created, createEphemeralSequential } from './wire/operations.ts';
import type { Acl } from './wire/records.ts';

/** The most that a claim has (`Claim.label`), as a guard: more of it would only weigh on the server. */
const LONGEST_LABEL = 896;

/** A node of ours in a line: the place and the hold alike. */
export interface Place {
  readonly session: bigint;
  readonly path: string;
  readonly name: string;
  readonly ticket: bigint;
  /** Made with the first grant: a place that never was a hold has nothing to lose. */
  lost?: AbortController;
  /** When the last answered attempt began. */
  asked: number;
  /** The next in line is to hear that this one has been admitted. */
  relay?: 'owed' | 'told';
  /** The connection on which the node was seen and is watched: while it lives, no news is good news. */
  seenOn?: Connection;
  /** Why it waits, as of when its line was last listed. */
  refusal?: Refusal;
  /** What tells when that changes. */
  guard?: Guard;
}

/** A place, and its line as of after it was taken. */
export interface Stand {
  readonly place: Place;
  readonly listing: Listing;
}

/** Given up, but not surely gone. */
export interface Leaving extends Handle {
  /** Of its node, where that is known. */
  readonly path?: string;
}

export const labelOf = ({ label }: Claim): Buffer => Buffer.from(label.slice(0, LONGEST_LABEL));

/** Our nodes, by id. */
export class Places {
  readonly #root: string;
  readonly #acl: readonly Acl[];
  readonly #places = new Map<string, Place>();
  /** By id, what may be there: a node whose creation was not answered, or, by its path, one whose session may be over. */
  readonly #doubts = new Map<string, string | undefined>();
  /** Ids of claims for which no node was asked for yet. */
  readonly #unsent = new Set<string>();
  /** By id. Their session may outlive whoever gave them up, so they are kept until their nodes are surely gone. */
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

  /** Ours, if it is of this session: a node of an earlier one is as good as gone. */
  get(id: string, session: bigint): Place | undefined {
    const place = this.#places.get(id);
    if (!place || place.session === session) return place;
    this.lose(id, place);
    return undefined;
  }

  /** A claim is about to ask. */
  begin({ id }: Handle): void {
    if (!this.#places.has(id) && !this.#doubts.has(id)) this.#unsent.add(id);
  }

  /** Whether there is surely nothing of a claim, since all that it ever did was to wait for a connection. */
  endUnsent({ id }: Handle): boolean {
    return this.#unsent.delete(id);
  }

  /** Takes a place in the line, or finds the one that was taken. */
  async stand(connection: Connection, claim: Claim): Promise<Stand> {
    const place = this.get(claim.id, connection.session) ?? (await this.#adopt(connection, claim));
    if (place) {
      const listing = await listNow(connection, this.parent(claim.key));
      if (listing.names.includes(place.name)) return { place, listing };
      this.lose(claim.id, place);
    }
    return this.#create(connection, claim);
  }

  async #create(connection: Connection, claim: Claim): Promise<Stand> {
    const parent = this.parent(claim.key);
    const creation = createEphemeralSequential(`${parent}/${nameOf(claim)}`, labelOf(claim), this.#acl);
    for (let tries = 1; ; tries++) {
      this.#unsent.delete(claim.id);
      this.#doubts.set(claim.id, undefined);
      try {
        // Both at once: the server answers in order, so the listing has the new node and all that are ahead of it. Known from
        // its own answer on: whoever may make a node and not list has it taken back by its path.
        const making = connection.request(creation).then((created) => this.#keep(claim, connection, created));
        const [place, listing] = await Promise.all([making, list(connection, parent)]);
        return { place, listing };
      } catch (error) {
        if (!isKeeperError(error, Code.noNode) || tries === TRIES) throw error;
        await ensureContainer(connection, parent, this.#acl);
      }
    }
  }

  #keep({ id }: Handle, { session }: Connection, { path, stat }: Created): Place {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const place = { session, path, name, ticket: stat.czxid, asked: 0 };
    this.#doubts.delete(id);
    this.#places.set(id, place);
    return place;
  }

  /**
   * The node of a claim whose creation was never answered. One of an earlier session dies with that session and must not
   * be taken for ours (CURATOR-498): it is removed, so that we do not wait for it.
   */
  async #adopt(connection: Connection, claim: Claim): Promise<Place | undefined> {
    if (!this.#doubts.has(claim.id)) return undefined;
    let adopted: Place | undefined;
    for (const path of await this.#find(connection, claim)) {
      const node = await read(connection, path);
      if (node?.stat.ephemeralOwner === connection.session) adopted = this.#keep(claim, connection, { path, ...node });
      else if (node) await removed(connection, path);
    }
    return adopted;
  }

  async #find(connection: Connection, { key, id }: Handle): Promise<string[]> {
    const parent = this.parent(key);
    const { names } = await listNow(connection, parent);
    return names.filter((name) => isOf(id, name)).map((name) => `${parent}/${name}`);
  }

  /** No longer ours from here on, so that its end is not taken for a loss. Until `leave` has succeeded it is still to be removed. */
  giveUp({ id, key }: Handle): void {
    const place = this.#places.get(id);
    this.#places.delete(id);
    if (place) this.#leaving.set(id, { id, key, path: place.path });
    else if (this.#doubts.has(id)) this.#leaving.set(id, { id, key, path: this.#doubts.get(id) });
  }

  /** Removes what was given up, by its path or by its name. @returns whether there was anything */
  async leave(connection: Connection, handle: Handle): Promise<boolean> {
    const path = this.#leaving.get(handle.id)?.path;
    const paths = path === undefined ? await this.#find(connection, handle) : [path];
    const ends = await Promise.all(paths.map((each) => removed(connection, each)));
    this.forgive(handle.id);
    return ends.includes(true);
  }

  /** There is nothing to remove, or it is not for us to remove it. */
  forgive(id: string): void {
    this.#leaving.delete(id);
    this.#doubts.delete(id);
  }

  has(id: string, place: Place): boolean {
    return this.#places.get(id) === place;
  }

  /** The node has gone, and not by our doing. */
  lose(id: string, place: Place): void {
    if (!this.has(id, place)) return;
    this.#places.delete(id);
    place.lost?.abort();
  }

  /** With a session go all its nodes. */
  expired(session: bigint): void {
    for (const [id, place] of this.#places) if (place.session === session) this.lose(id, place);
  }

  /** Holds are lost for good, even if the session should come back: whoever held has been told. Places may wait on. */
  doubtful(session: bigint): void {
    for (const [id, place] of this.#places) {
      if (place.session !== session || !place.lost) continue;
      this.#doubts.set(id, place.path);
      this.lose(id, place);
    }
  }
}
