/** What a reader's own code does in the examples: it looks, takes its time, and writes. Only a lock makes that right. */
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pass } from 'node:timers/promises';

function opened(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5_000 });
  db.exec(`
    create table if not exists orders (id text primary key, driver text, token text);
    create table if not exists jobs (id integer primary key, account text, taken integer default 0, tries integer default 0);
    create table if not exists work (account text, token text, began integer, ended integer)`);
  return db;
}

/** Says whether the driver has the order. */
export function orders(file: string) {
  const db = opened(file);
  return async (id: string, driver: unknown, token: bigint): Promise<boolean> => {
    if (db.prepare('select 1 from orders where id = ?').get(id)) return false;
    await pass(5);
    db.prepare('insert or replace into orders values (?, ?, ?)').run(id, String(driver), String(token));
    return true;
  };
}

interface Job {
  readonly id: number;
  readonly account: string;
  readonly tries: number;
}

/** A queue that gives each job to one worker, and what is done with a job: every fifth fails at first. */
export function queue(file: string) {
  const db = opened(file);
  const take = db.prepare(
    'update jobs set taken = 1, tries = tries + 1 where id = (select min(id) from jobs where taken = 0) returning id, account, tries',
  );
  return {
    add: (accounts: readonly string[]): void => {
      for (const account of accounts) db.prepare('insert into jobs (account) values (?)').run(account);
    },
    nextJob: async (): Promise<Job | undefined> => take.get() as Job | undefined,
    giveBack: async ({ id }: Job): Promise<void> => {
      db.prepare('update jobs set taken = 0 where id = ?').run(id);
    },
    async work({ id, account, tries }: Job, token: bigint): Promise<void> {
      if (id % 5 === 0 && tries === 1) throw new Error(`job ${id} fails at first`);
      const began = process.hrtime.bigint();
      await pass(3);
      db.prepare('insert into work values (?, ?, ?, ?)').run(account, String(token), began, process.hrtime.bigint());
    },
    done: () => {
      const rows = db.prepare('select * from work order by began');
      rows.setReadBigInts(true);
      return rows.all() as unknown as { account: string; token: string; began: bigint; ended: bigint }[];
    },
  };
}
