import type { Hints } from '../../core/contract/backend.ts';
import { encodeKey } from './names.ts';
import { type Ask, ensureContainer, list, read, removeNode, TRIES } from './nodes.ts';
import type { Connection } from './wire/connection.ts';
import { Code, isKeeperError } from './wire/errors.ts';
import { type Acl, createPersistentSequential, setData } from './wire/operations.ts';

/** No key has this node: `@` is encoded in keys. */
const FOLDER = '@notes';
const FORM = /^(.+)@(\d{1,16})-(-?\d{9,10})$/;
/** How many notes of other names one write removes, at most. */
const SWEPT = 100;

/**
 * The name of its node says until when a note counts, by the leader's clock. So a listing shows which notes are over. Each write
 * makes a node of its own, with a number from the server: the newest node of a name is the note.
 */
interface Note {
  readonly path: string;
  readonly name: string;
  /** ms since 1970 */
  readonly until: number;
  /** A signed 32-bit counter of the folder, which wraps. */
  readonly number: number;
}

interface Listing {
  /** In the order in which they were written. */
  readonly notes: readonly Note[];
  /** The leader's time, ms since 1970. */
  readonly now: number;
}

/** Notes in persistent nodes. Each write removes notes that are over. */
export class ZookeeperNotes implements Hints {
  readonly #folder: string;
  readonly #acl: readonly Acl[];
  readonly #ask: Ask;

  constructor(root: string, acl: readonly Acl[], ask: Ask) {
    this.#folder = `${root}/${FOLDER}`;
    this.#acl = acl;
    this.#ask = ask;
  }

  read(name: string): Promise<string | undefined> {
    return this.#ask('read a note', async (connection) => {
      for (let attempts = 1; attempts <= TRIES; attempts++) {
        const { notes, now } = await this.#look(connection);
        const note = notes.findLast((each) => each.name === encodeKey(name));
        if (!note || note.until <= now) return undefined;
        const found = await read(connection, note.path);
        if (found) return found.data.toString('utf8');
        // It was written again between the two, and the next listing has the newer one; or it was forgotten.
      }
      throw new Error(`the note was written anew ${TRIES} times while it was read`);
    });
  }

  write(name: string, text: string | undefined, ttl: number): Promise<void> {
    return this.#ask('write a note', async (connection) => {
      const own = encodeKey(name);
      if (text !== undefined) await this.#make(connection, own, text, ttl);
      const listing = await this.#look(connection);
      const forgotten = text === undefined ? own : undefined;
      await Promise.all(removable(listing, own, forgotten).map(({ path }) => removeNode(connection, path)));
    });
  }

  async #make(connection: Connection, name: string, text: string, ttl: number): Promise<void> {
    for (let attempts = 1; ; attempts++) {
      try {
        const { mtime } = await connection.request(setData(this.#folder, new Uint8Array()));
        const path = `${this.#folder}/${name}@${mtime + Math.ceil(ttl)}-`;
        await connection.request(createPersistentSequential(path, Buffer.from(text), this.#acl));
        return;
      } catch (error) {
        // The servers remove a folder that was empty for a while.
        if (!isKeeperError(error, Code.noNode) || attempts === TRIES) throw error;
      }
      await ensureContainer(connection, this.#folder, this.#acl);
    }
  }

  /**
   * The notes and the leader's time. Only a write tells the time; it also sees all earlier writes. Both are sent at once, since the
   * server answers in order. Where there is no folder, there is no note.
   */
  async #look(connection: Connection): Promise<Listing> {
    const touched = connection.request(setData(this.#folder, new Uint8Array())).catch((error) => {
      if (isKeeperError(error, Code.noNode)) return undefined;
      throw error;
    });
    const [stat, { names }] = await Promise.all([touched, list(connection, this.#folder)]);
    if (!stat) return { notes: [], now: 0 };
    const notes = names.flatMap((name) => this.#note(name)).sort((a, b) => (a.number - b.number) | 0);
    return { notes, now: stat.mtime };
  }

  #note(segment: string): Note[] {
    const [, name, until, number] = FORM.exec(segment) ?? [];
    return name ? [{ path: `${this.#folder}/${segment}`, name, until: Number(until), number: Number(number) | 0 }] : [];
  }
}

/**
 * Notes that are over, were written again, or are to be forgotten. The nodes of a name go in the order in which they were made. So
 * nobody removes what is newer than what it wrote itself, and no older note comes back, wherever the removal ends.
 */
function removable({ notes, now }: Listing, own: string, forgotten: string | undefined): Note[] {
  const newest = new Map(notes.map((note) => [note.name, note]));
  const useless = notes.filter(
    (note) => note.until <= now || note.name === forgotten || newest.get(note.name) !== note,
  );
  const others = useless.filter((note) => note.name !== own).slice(0, SWEPT);
  return [...useless.filter((note) => note.name === own), ...others];
}
