-- What holds left under their keys, and how often holds have begun since. Made with the first memo: see notes.sql. Times as in setup.sql.
--
-- attempts, begun, mark, counts  holds begun since words were left last, of claims that count; the token and the mark of the last of
--                             these, and until when all this counts
-- token, since, expires       of the words: the token of the hold that left them (0: none were left), from when on they have an age, when they are over
-- ends                        from when on nothing of the row counts
CREATE TABLE IF NOT EXISTS {words} (
  name VARBINARY(600) NOT NULL,
  attempts INT UNSIGNED NOT NULL,
  begun BIGINT UNSIGNED NOT NULL,
  mark VARBINARY(64) NOT NULL,
  counts BIGINT NOT NULL,
  token BIGINT UNSIGNED NOT NULL,
  since BIGINT NOT NULL,
  expires BIGINT NOT NULL,
  ends BIGINT NOT NULL,
  text MEDIUMBLOB NOT NULL,
  PRIMARY KEY (name),
  KEY ends (ends)
) ENGINE = InnoDB
