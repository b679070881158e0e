import type { Notes } from '../../core/backend.ts';
import { encodeKey } from './names.ts';
import { ensureContainer, list, read, removed, TRIES } from './nodes.ts';
import type { Connection } from './wire/connection.ts';
import { Code, isKeeperError } from './wire/errors.ts';
import { createPersistent, setData } from './wire/operations.ts';
import type { Acl } from './wire/records.ts';

/** No key has this node: `@` is encoded in keys. */
const FOLDER = '@notes';
const FORM = /^(.+)@(\d{1,16})$/;
/** How many notes that are over one write removes, at most. */
const SWEPT = 100;

/** The name of a note says until when it counts, by the leader's clock. So a listing shows which notes are over. */
interface Note {
  readonly path: string;
  readonly name: string;
  /** ms since 1970 */
  readonly until: number;
}

type Ask = <T>(what: string, ask: (connection: Connection) => Promise<T>) => Promise<T>;

/** Notes in persistent nodes. Each write removes notes that are over. */
export class ZookeeperNotes implements Notes {
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
      const found = await this.#look(connection);
      const note = found?.notes.find((each) => each.name === encodeKey(name) && each.until > found.now);
      return note && (await read(connection, note.path))?.data.toString('utf8');
    });
  }

  write(name: string, text: string | undefined, ttl: number): Promise<void> {
    return this.#ask('write a note', async (connection) => {
      const written = text === undefined ? undefined : await this.#put(connection, encodeKey(name), text, ttl);
      const { notes, now } = (await this.#look(connection)) ?? { notes: [], now: 0 };
      const over = notes.filter((note) => note.until <= now && note.name !== encodeKey(name)).slice(0, SWEPT);
      const earlier = notes.filter((note) => note.name === encodeKey(name) && note.path !== written);
      await Promise.all([...over, ...earlier].map(({ path }) => removed(connection, path)));
    });
  }

  /** @returns the path of the node */
  async #put(connection: Connection, name: string, text: string, ttl: number): Promise<string> {
    for (let tries = 1; ; tries++) {
      const found = await this.#look(connection);
      const path = `${this.#folder}/${name}@${(found?.now ?? 0) + Math.ceil(ttl)}`;
      try {
        if (found) await connection.request(createPersistent(path, Buffer.from(text), this.#acl));
        if (found) return path;
      } catch (error) {
        if (isKeeperError(error, Code.nodeExists)) {
          await connection.request(setData(path, Buffer.from(text)));
          return path;
        }
        // The servers remove a folder that was empty for a while.
        if (!isKeeperError(error, Code.noNode) || tries === TRIES) throw error;
      }
      await ensureContainer(connection, this.#folder, this.#acl);
    }
  }

  /**
   * The notes and the leader's time. Only a write tells the time; it also sees all earlier writes. Both are sent at once, since the
   * server answers in order.
   * @returns undefined where there is no folder, and so no note
   */
  async #look(connection: Connection): Promise<{ readonly notes: readonly Note[]; readonly now: number } | undefined> {
    const touched = connection.request(setData(this.#folder, new Uint8Array())).catch((error) => {
      if (isKeeperError(error, Code.noNode)) return undefined;
      throw error;
    });
    const [stat, { names }] = await Promise.all([touched, list(connection, this.#folder)]);
    return stat && { notes: names.flatMap((name) => this.#note(name)), now: stat.mtime };
  }

  #note(segment: string): Note[] {
    const [, name, until] = FORM.exec(segment) ?? [];
    return name ? [{ path: `${this.#folder}/${segment}`, name, until: Number(until) }] : [];
  }
}
