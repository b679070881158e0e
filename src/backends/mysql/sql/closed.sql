-- Whether the server takes no writes. MariaDB 12 has words for more ways to be read-only.
(@@global.read_only NOT IN ('OFF', '0') OR @@global.innodb_read_only)
