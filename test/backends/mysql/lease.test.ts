import { mysql } from '../../../src/backends/mysql/index.ts';
import { describeOnMysql, type MysqlKind } from '../../kit/mysql-kinds.ts';
import { describeConformance } from '../../kit/suite.ts';
import { useServer } from './server.ts';
import { subject } from './subject.ts';

describeOnMysql('mysql', (kind) => {
  const host = useServer(kind);
  describeConformance(subject('mysql', host, (pool, prefix) => mysql(pool, { prefix, table: 'polled' })));
  describeConformance(
    subject('mysql, gate', host, (pool, prefix) => mysql(pool, { prefix, table: 'gated', gate: true })),
  );
});

/** Settings that people have, each of which has broken somebody's locks; a pool of one; and the least rights. */
const HOSTILE = ({ name }: MysqlKind) => ({
  'transaction-isolation': 'SERIALIZABLE',
  'default-time-zone': '+05:45',
  'sql-mode': [
    ...['ANSI_QUOTES', 'NO_BACKSLASH_ESCAPES', 'STRICT_ALL_TABLES', 'PAD_CHAR_TO_FULL_LENGTH'],
    ...(name === 'MariaDB' ? ['SIMULTANEOUS_ASSIGNMENT'] : []),
  ].join(','),
  'character-set-server': 'latin1',
  'wait-timeout': '2',
});

describeOnMysql('mysql with hostile settings, a small pool and the least rights', (kind) => {
  const host = useServer(kind, HOSTILE(kind));
  const make = subject('mysql, hostile', host, (pool, prefix) => mysql(pool, { prefix }), {
    user: 'locker',
    connectionLimit: 2,
    flags: ['-FOUND_ROWS'],
    charset: 'latin1',
  });
  const asRoot = async (): Promise<void> => {
    const root = host.pool();
    const owner = mysql(root);
    await owner.setup();
    await owner.close();
    await root.query("CREATE USER IF NOT EXISTS locker@'127.0.0.1'");
    await root.query("GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast.holdfast_lines TO locker@'127.0.0.1'");
  };
  let prepared: Promise<void> | undefined;
  describeConformance({
    ...make,
    // No law pauses for just as long as the server lets a session be idle: a statement would meet its end on the way.
    timing: { ttl: 1_200, tolerance: 500 },
    open: async () => {
      prepared ??= asRoot();
      await prepared;
      return make.open();
    },
  });
});
