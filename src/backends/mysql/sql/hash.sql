-- The name of the lock of a key. HEX, since the names of databases and keys have different character sets.
SHA2(CONCAT(HEX(COALESCE(NULLIF(:database, ''), DATABASE(), '')), '/', HEX(:name)), 256)
