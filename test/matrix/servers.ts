/** A server program that this machine's own system has not, or has in another version. */
export interface ServerRow {
  /** Of its folder in the cache, before the version. */
  readonly server: string;
  /** Of Debian, in which its package is. Unstable rolls: what is fetched is the version of that day. */
  readonly suite: string;
  /** The first one's version is the server's. What they depend on comes with them. */
  readonly packages: readonly [string, ...string[]];
  /** By the names of the launchers. */
  readonly programs: Readonly<Record<string, Program>>;
}

export interface Program {
  /** Within the unpacked packages. */
  readonly path: string;
  /** Flags for its own files, which are not where it was built for. `{root}` is the folder of the unpacked packages. */
  readonly flags?: readonly string[];
}

/** What `npm run matrix` can fetch. */
export const SERVERS: readonly ServerRow[] = [
  {
    server: 'mysql',
    suite: 'unstable',
    packages: ['mysql-server-core'],
    programs: {
      mysqld: {
        path: 'usr/sbin/mysqld',
        flags: [
          '--basedir={root}/usr',
          '--lc-messages-dir={root}/usr/share/mysql',
          '--character-sets-dir={root}/usr/share/mysql/charsets',
          '--plugin-dir={root}/usr/lib/mysql/plugin',
        ],
      },
    },
  },
];
