-- Words that processes leave for each other beside the locks: advice, which may be gone. Made with the first note.
CREATE TABLE IF NOT EXISTS {notes} (
  name VARBINARY(600) NOT NULL,
  text VARBINARY(1024) NOT NULL,
  expires BIGINT NOT NULL,
  PRIMARY KEY (name),
  KEY expires (expires)
) ENGINE = InnoDB
