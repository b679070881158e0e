import { mysql } from '../../../src/backends/mysql/index.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { useMariadb } from './server.ts';
import { subject } from './subject.ts';

describeOn('mysql', 'mysql', () => {
  const mariadb = useMariadb();
  describeConformance(subject('mysql', mariadb, (pool, prefix) => mysql(pool, { prefix, table: 'polled' })));
  describeConformance(
    subject('mysql, gate', mariadb, (pool, prefix) => mysql(pool, { prefix, table: 'gated', gate: true })),
  );
});

/** Settings that people have, each of which has broken somebody's locks; a pool of one; and the least rights. */
const HOSTILE = {
  'transaction-isolation': 'SERIALIZABLE',
  'default-time-zone': '+05:45',
  'sql-mode': 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,SIMULTANEOUS_ASSIGNMENT,STRICT_ALL_TABLES,PAD_CHAR_TO_FULL_LENGTH',
  'character-set-server': 'latin1',
  'wait-timeout': '2',
};

describeOn('mysql', 'mysql with hostile settings, a small pool and the least rights', () => {
  const mariadb = useMariadb(HOSTILE);
  const make = subject('mysql, hostile', mariadb, (pool, prefix) => mysql(pool, { prefix }), {
    user: 'locker',
    connectionLimit: 2,
    flags: ['-FOUND_ROWS'],
    charset: 'latin1',
  });
  const asRoot = async (): Promise<void> => {
    const root = mariadb.pool();
    const owner = mysql(root);
    await owner.setup();
    await owner.close();
    await root.query("CREATE USER IF NOT EXISTS locker@'127.0.0.1'");
    for (const table of ['holdfast_lines', 'holdfast_lines_notes'])
      await root.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast.${table} TO locker@'127.0.0.1'`);
  };
  let prepared: Promise<void> | undefined;
  describeConformance({
    ...make,
    open: async () => {
      prepared ??= asRoot();
      await prepared;
      return make.open();
    },
  });
});
